// The trainers whose changes are counted in docs/measurements.md, and how each is asked.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

export interface Asked {
  readonly name: string;
  /** For the page. */
  readonly what: string;
  /** Behind `lossproof mutate`. */
  readonly options: readonly string[];
  /** Puts its files into the folder that it is run in. */
  readonly prepare?: (folder: string) => void;
}

export const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
/** Ten minutes of the clock for each, on two workers: of the start, too, and with time to write the page. */
const MOST_SECONDS = '580';
const COMMON = ['--seed', '1', '--workers', '2', '--max-time', MOST_SECONDS];

export const TRAINERS: readonly Asked[] = [
  {
    name: 'bundled example',
    what: '`--bundled --cases 10`',
    options: [...COMMON, '--bundled', '--cases', '10'],
  },
  {
    name: 'own GRPO trainer',
    what: '141 lines, the adapter as `init --from` writes it',
    options: COMMON,
    prepare(folder) {
      cpSync(join(PACKAGE_ROOT, 'test', 'torch', 'discover', 'own', 'grpo.py'), join(folder, 'trainer.py'));
      if (existsSync(join(folder, 'adapter.py'))) return;
      spawnSync(process.execPath, [MAIN, 'init', '--from', 'trainer.py', '--python', PYTHON], {
        cwd: folder,
        stdio: 'inherit',
      });
    },
  },
  {
    name: 'GRPO in one method',
    what: '[a trainer](example/fused/trainer.py) with an adapter by hand',
    options: [...COMMON, '--', PYTHON, 'adapter.py'],
    prepare(folder) {
      for (const name of ['adapter.py', 'trainer.py'])
        cpSync(join(PACKAGE_ROOT, 'docs', 'example', 'fused', name), join(folder, name));
    },
  },
  {
    name: 'trl-grpo',
    what: "TRL's `grpo_trainer.py`, `--cases 3`, without the properties of whole models",
    options: [
      ...COMMON,
      '--adapter',
      'trl-grpo',
      '--python',
      PYTHON,
      '--cases',
      '3',
      '--only',
      'mask,rollout,extract,score,logprobs,entropy,advantages,kl,loss',
    ],
  },
];
