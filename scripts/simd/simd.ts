// The bytes of cpu-f64's loop in WebAssembly, made of wat.ts:
//   npm run simd          writes src/kernel/simd-bytes.ts; a test says where that was forgotten
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { assembled } from './assembled.ts';

const COLUMNS = 100;

const lines = (await assembled()).match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];
writeFileSync(
  join(PACKAGE_ROOT, 'src', 'kernel', 'simd-bytes.ts'),
  [
    '// Written by `npm run simd` out of scripts/simd/wat.ts: WebAssembly in base64, so that no file has to be found at run time.',
    'export const SIMD_BYTES: string = [',
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ].join('\n'),
);
