// The trainers whose changes are counted in docs/mutate.md, and how each is asked.
import { cpSync, mkdirSync } from 'node:fs';
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

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
/** Of the clock, for each, on two workers. */
const MOST_SECONDS = '480';
const COMMON = ['--seed', '1', '--workers', '2', '--max-time', MOST_SECONDS];

export const TRAINERS: readonly Asked[] = [
  {
    name: 'bundled example',
    what: '`--bundled --cases 30`',
    options: [...COMMON, '--bundled', '--cases', '30'],
  },
  {
    name: 'GRPO in one method',
    what: '[the fused trainer](example/fused/trainer.py) and its adapter',
    options: [...COMMON, '--', PYTHON, 'adapter.py'],
    prepare(folder) {
      mkdirSync(folder, { recursive: true });
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
