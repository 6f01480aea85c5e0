// `twin` on the scripts of this folder and of ../trace/scripts, as a test asks for it.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { CHATS } from '../trace/verdicts/data.ts';

const VENV = process.env.LOSSPROOF_VENV ?? join(PACKAGE_ROOT, '.venv');
const BIN = join(VENV, 'bin');
/** Has DeepSpeed and peft, too. */
const PLACES = join(`${VENV}-places`, 'bin');
export const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const SCRIPTS = join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'scripts');
const HERE = join(PACKAGE_ROOT, 'test', 'torch', 'twin');

export const HF = 'python SCRIPTS/hf_trainer.py --data chats.jsonl --output out';
export const SFT = 'python SCRIPTS/trl_sft.py --data chats.jsonl --output out';
export const OWN_LOOP = 'python OWN';
export const LORA = 'python ADAPTERS';
export const OF_BATCHES = ['repeat', 'batch-order', 'mates', 'padding'];

export interface Told {
  readonly change: string;
  readonly outcome: 'agree' | 'parts' | 'sized' | 'untold';
  readonly differs?: string;
  readonly step?: number;
  readonly module?: string;
  readonly begins_at?: string;
  readonly backward_module?: string;
  readonly lost_micro_batches?: readonly number[];
  readonly times_rounding?: number;
  readonly sentences?: readonly string[];
  readonly gradients?: number;
  readonly signs?: number;
}

export async function twin(options: readonly string[], command: string): Promise<ReadonlyMap<string, Told>> {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  mkdirSync(join(folder, 'out'));
  // Steps enough to go on from a checkpoint.
  const rows = [...CHATS, ...CHATS, ...CHATS].map((row) => JSON.stringify(row));
  writeFileSync(join(folder, 'chats.jsonl'), rows.join('\n'));
  const { stdout, stderr } = await execa(
    'node',
    [MAIN, 'twin', '--json', ...options, '--', ...words(command)],
    {
      cwd: folder,
      reject: false,
      env: { ...environment(command), PYTHONPATH: SCRIPTS },
    },
  );
  if (stdout === '') throw new Error(stderr);
  const { changes } = JSON.parse(stdout) as { readonly changes: readonly Told[] };
  return new Map(changes.map((told) => [told.change, told]));
}

export const of = (told: ReadonlyMap<string, Told>, outcome: Told['outcome']): string[] =>
  [...told].filter(([, each]) => each.outcome === outcome).map(([name]) => name);

export function words(command: string): string[] {
  const files = { OWN: 'own.py', LLAMA: 'llama.py', ZERO: 'zero.py', ADAPTERS: 'adapters.py' };
  return command.split(' ').map((word) => {
    const file = Object.entries(files).find(([name]) => name === word)?.[1];
    return file === undefined ? word.replace('SCRIPTS', SCRIPTS) : join(HERE, file);
  });
}

export const environment = (command: string): Record<string, string> => ({
  PATH: `${/ZERO|ADAPTERS/.test(command) ? PLACES : BIN}:${process.env.PATH ?? ''}`,
  OMP_NUM_THREADS: '1',
});
