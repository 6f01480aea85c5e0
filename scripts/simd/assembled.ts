// wat.ts as bytes, in base64.
import wabt from 'wabt';
import { WAT } from './wat.ts';

export async function assembled(): Promise<string> {
  const module = (await wabt()).parseWat('rows.wat', WAT, { simd: true });
  try {
    module.validate();
    return Buffer.from(module.toBinary({}).buffer).toString('base64');
  } finally {
    module.destroy();
  }
}
