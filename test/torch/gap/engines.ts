// Rollouts of one tiny model in two code bases, ONNX Runtime and transformers, and what `gap` says of them, by dtype of either.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../src/version.ts';

/** The environment of what people train with besides the trainers; LOSSPROOF_VENV_PLACES is another one. */
const PYTHON = join(
  process.env.LOSSPROOF_VENV_PLACES ?? `${process.env.LOSSPROOF_VENV ?? join(PACKAGE_ROOT, '.venv')}-places`,
  'bin',
  'python',
);
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const SCRIPT = join(PACKAGE_ROOT, 'test', 'torch', 'gap', 'engines.py');
const ENV = { PYTHONDONTWRITEBYTECODE: '1', OMP_NUM_THREADS: '1' };

export interface Ran {
  readonly engines: readonly string[];
  readonly trainers: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
}

export interface Told {
  readonly verdict: string;
  readonly rms: number;
  readonly mean_abs: number;
  readonly kl_k3: number;
  readonly causes: readonly { readonly cause: string }[];
}

/** ONNX Runtime is installed. */
export async function canRun(): Promise<boolean> {
  if (!existsSync(PYTHON)) return false;
  const { exitCode } = await execa(PYTHON, ['-c', 'import onnx, onnxruntime'], { reject: false, env: ENV });
  return exitCode === 0;
}

/** Writes the files: ENGINE-TRAINER.jsonl, and warm.jsonl, an engine at temperature 0.7. */
export async function rollouts(folder: string): Promise<Ran> {
  const { stdout } = await execa(PYTHON, [SCRIPT, folder], { env: ENV });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Ran;
}

export async function gapOfFile(folder: string, name: string, ...more: readonly string[]): Promise<Told> {
  const { stdout } = await execa('node', [MAIN, 'gap', `${name}.jsonl`, '--json', ...more], {
    cwd: folder,
    reject: false,
  });
  return JSON.parse(stdout) as Told;
}
