// Runs a Python file of this folder that prints a JSON line a case.
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../../src/version.ts';

const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');

export interface Answered {
  readonly case: string;
  readonly out: unknown;
  readonly troubles?: readonly string[];
}

/** What each case of these files said, by its name; a process a file, side by side. */
export async function casesOf(...files: readonly string[]): Promise<ReadonlyMap<string, Answered>> {
  const answers = (await Promise.all(files.map(answersOf))).flat();
  return new Map(answers.map((answer) => [answer.case, answer]));
}

async function answersOf(file: string): Promise<readonly Answered[]> {
  const { stdout } = await execa(PYTHON, [join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'gradient', file)], {
    env: {
      PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
      OMP_NUM_THREADS: '1',
    },
  });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"case"'))
    .map((line) => JSON.parse(line) as Answered);
}
