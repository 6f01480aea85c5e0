// What to do about a process that ended: the likeliest cause of each way to end. What happened is said elsewhere.
import { join } from 'node:path';
import { PYTHON_FOLDER } from '../version.ts';
import type { ChildExit } from './child.ts';

export interface ExitFacts {
  readonly exit: ChildExit;
  /** What it owed an answer to; undefined: nothing. */
  readonly op: string | undefined;
  readonly command: readonly string[];
  readonly stderrTail: string;
  readonly traceback: string | undefined;
  /** Output without a newline. */
  readonly rest: string;
}

export function exitAdvice({ exit, op, command, stderrTail, traceback, rest }: ExitFacts): string {
  if (rest !== '')
    return 'End every answer with a newline and flush it; the SDK (import lossproof) does both.';
  if (op === 'hello' && SHADOWED.test(stderrTail) && !stderrTail.includes(OWN_PACKAGE))
    return 'Another lossproof comes before this one on the path of that Python: rename a file or folder called lossproof where the adapter lies or is started.';
  if (op === 'hello' && isReadyMade(command) && MISSING_MODULE.test(stderrTail))
    return `Name a Python that has torch, transformers and trl with --python, or install them there: ${programOf(command)} -m pip install 'lossproof[trl]' (or torch transformers trl requests).`;
  const absent = op === 'hello' ? MISSING_NAME.exec(stderrTail)?.[1] : undefined;
  if (absent !== undefined) return absentAdvice(absent, command);
  if (op === 'hello' && traceback !== undefined)
    return 'Run the adapter by hand in the same environment and correct what the traceback says.';
  if (exit.signal === 'SIGKILL')
    return 'An unexpected SIGKILL usually means that memory ran out: use a smaller model or batch.';
  if (exit.signal === 'SIGSEGV')
    return 'A native extension crashed: run with python -X faulthandler to see where.';
  if (exit.exitCode === 0 && op === 'hello')
    return 'End the adapter with lossproof.serve(name="my-trainer"), outside of every condition; without the SDK, with a loop over sys.stdin.';
  if (exit.exitCode === 0)
    return 'The adapter must read requests until its input ends: lossproof.serve() does, or a loop over sys.stdin.';
  if (op === 'hello') {
    return stderrTail.trim() === ''
      ? 'It printed nothing: run the adapter by hand in the same folder and environment to see why it ends.'
      : 'Correct what its last lines say; `lossproof doctor` tries it again.';
  }
  return 'An op must not end the process: raise, and the SDK answers error; the stderr of the process may say more.';
}

/** Python's own words, and those of the ready-made adapters. */
const MISSING_MODULE = /No module named|lossproof: \S+ is not installed/;

/** What Python says where a file of the user's is called as our package is, or an older one was found. */
const SHADOWED =
  /No module named '?lossproof[.']|module 'lossproof(?:\.\w+)*' (?:\([^)]*\) )?has no attribute|cannot import name .* from (?:partially initialized module )?'lossproof/;

/** A traceback or an import that names it has found the right one. */
const OWN_PACKAGE = join(PYTHON_FOLDER, 'lossproof', '__init__.py');

/** The module that an import did not find, by its first word. */
const MISSING_NAME = /ModuleNotFoundError: No module named '([\w-]+)/;

function absentAdvice(name: string, command: readonly string[]): string {
  return `${programOf(command)} has no module ${name}. Name the Python that you train with (-- .venv/bin/python adapter.py, or \`trainer\` in lossproof.config.json) or activate its environment; if ${name} is your own code, start from the folder in which the import works, or set PYTHONPATH.`;
}

function programOf(command: readonly string[]): string {
  return command.find((word) => word !== 'env' && !word.includes('=')) ?? 'python3';
}

function isReadyMade(command: readonly string[]): boolean {
  return command.some((word) => word.startsWith('lossproof.adapters.'));
}
