// Torch in a process of its own for the row kernel's bench, asked a line at a time.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PACKAGE_ROOT } from '../../src/version.ts';

export type TorchWork = 'copy' | 'float32' | 'compiled' | 'float64';

export interface Torch {
  readonly hello: {
    readonly about: string;
    readonly errors: readonly number[];
    /** Why torch.compile cannot be measured. */
    readonly compiled: string | null;
  };
  /** Milliseconds of one go. */
  go(work: TorchWork): Promise<number>;
  stop(): void;
}

/** A Python that has torch: the one that is named, .venv, or python3; undefined where there is none. */
export function pythonWithTorch(named: string | undefined): string | undefined {
  const own = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
  const asked = named ?? (existsSync(own) ? own : 'python3');
  return spawnSync(asked, ['-c', 'import torch'], { stdio: 'ignore' }).status === 0 ? asked : undefined;
}

/** `words` are those of reference_torch.py. */
export async function startTorch(python: string, words: readonly (number | string)[]): Promise<Torch> {
  const script = join(PACKAGE_ROOT, 'scripts', 'bench', 'reference_torch.py');
  const child = spawn(python, [script, ...words.map(String)], { stdio: ['pipe', 'pipe', 'inherit'] });
  // One that cannot be started ends without a line, which is told below.
  child.on('error', () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const read = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${python} ended; is torch there? npm run setup:trainers`);
    return value;
  };
  const hello = JSON.parse(await read()) as Torch['hello'];
  return {
    hello,
    async go(work) {
      child.stdin.write(`${work}\n`);
      return Number(await read());
    },
    stop: () => void child.stdin.end(),
  };
}
