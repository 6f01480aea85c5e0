// A Python environment that is broken: it is there, and its Python is not. The system says only that no such file exists, of a file
// that the user can see.
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { quoted } from '../../report/failure/reproduce.ts';
import { ANY_PYTHON } from './python.ts';

export interface Trouble {
  /** What happened. */
  readonly message: string;
  /** What to do next. */
  readonly advice: string;
}

/** Why this command cannot start, where a broken environment is the reason. */
export function environmentTrouble(command: readonly string[], cwd: string): Trouble | undefined {
  const program = command.find((word) => word !== 'env' && !word.includes('='));
  if (program === undefined || !/[/\\]/.test(program)) return undefined;
  const file = resolve(cwd, program);
  if (existsSync(file)) return undefined;
  const folder = dirname(dirname(file));
  const again = `Make it again (${ANY_PYTHON} -m venv --clear ${quoted(folder)}, and install what the trainer needs), or name another Python with --python.`;
  const link = lstatSync(file, { throwIfNoEntry: false });
  if (link?.isSymbolicLink()) {
    const target = resolve(dirname(file), lastLink(file));
    return {
      message: `The environment ${folder} is broken: its Python is a link to ${target}, which is gone.`,
      advice: again,
    };
  }
  if (existsSync(join(folder, 'pyvenv.cfg')))
    return { message: `The environment ${folder} is broken: it has no ${program}.`, advice: again };
  if (process.env.VIRTUAL_ENV !== undefined && resolve(process.env.VIRTUAL_ENV) === folder)
    return {
      message: `The active environment ${folder} (VIRTUAL_ENV) has no Python: ${existsSync(folder) ? 'it is no environment' : 'the folder is gone'}.`,
      advice: `Activate another one, or say \`unset VIRTUAL_ENV\`, or name a Python with --python.`,
    };
  return undefined;
}

/** Where a chain of links breaks: `python` is a link to `python3` beside it, which is one to the base. */
function lastLink(file: string): string {
  const target = resolve(dirname(file), readlinkSync(file));
  return lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() ? lastLink(target) : target;
}
