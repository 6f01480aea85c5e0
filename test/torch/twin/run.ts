// `lossproof twin --json` on real training loops, for the tests of this folder.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { CHATS } from '../trace/verdicts/data.ts';

export const BIN = join(process.env.LOSSPROOF_VENV ?? join(PACKAGE_ROOT, '.venv'), 'bin');
export const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
export const OWN = join(PACKAGE_ROOT, 'test', 'torch', 'twin', 'own.py');
const LLAMA = OWN.replace('own.py', 'llama.py');
const SCRIPTS = join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'scripts');

export interface Told {
  readonly change: string;
  readonly outcome: 'agree' | 'parts' | 'untold';
  readonly differs?: string;
  readonly step?: number;
  readonly module?: string;
  readonly begins_at?: string;
  readonly backward_module?: string;
  readonly sentences?: readonly string[];
  readonly lost_micro_batches?: readonly number[];
  readonly times_rounding?: number;
}

/** The outcome of each change, in a new folder with `chats.jsonl`. In the command SCRIPTS, OWN and LLAMA stand for their paths. */
export async function twin(options: readonly string[], command: string): Promise<ReadonlyMap<string, Told>> {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  mkdirSync(join(folder, 'out'));
  // Steps enough to go on from a checkpoint.
  const rows = [...CHATS, ...CHATS, ...CHATS].map((row) => JSON.stringify(row));
  writeFileSync(join(folder, 'chats.jsonl'), rows.join('\n'));
  const words = command
    .split(' ')
    .map((word) => word.replace('SCRIPTS', SCRIPTS).replace('OWN', OWN).replace('LLAMA', LLAMA));
  const { stdout, stderr } = await execa('node', [MAIN, 'twin', '--json', ...options, '--', ...words], {
    cwd: folder,
    reject: false,
    env: { PATH: `${BIN}:${process.env.PATH ?? ''}`, OMP_NUM_THREADS: '1', PYTHONPATH: SCRIPTS },
  });
  if (stdout === '') throw new Error(stderr);
  const { changes } = JSON.parse(stdout) as { readonly changes: readonly Told[] };
  return new Map(changes.map((told) => [told.change, told]));
}
