// What to do about a process that ended: the likeliest cause of each way to end. What happened is said elsewhere.
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
    return 'End every answer with a newline and flush it; the SDK (import trainproof) does both.';
  if (op === 'hello' && isReadyMade(command) && MISSING_MODULE.test(stderrTail))
    return 'Name a Python that has torch, transformers and trl with --python, or install them there: pip install torch transformers trl.';
  if (op === 'hello' && traceback !== undefined)
    return 'Run the adapter by hand in the same environment and correct what the traceback says.';
  if (exit.signal === 'SIGKILL')
    return 'SIGKILL that nobody sent is usually the kernel out of memory: use a smaller model or batch.';
  if (exit.signal === 'SIGSEGV')
    return 'A native extension crashed: run with python -X faulthandler to see where.';
  if (exit.exitCode === 0)
    return 'The adapter must read requests until its input ends: trainproof.serve() does, or a loop over sys.stdin.';
  if (op === 'hello') {
    return stderrTail.trim() === ''
      ? 'It printed nothing: run the adapter by hand in the same folder and environment to see why it ends.'
      : 'Correct what its last lines say; `trainproof doctor` tries it again.';
  }
  return 'An op must not end the process: raise, and the SDK answers error; the stderr of the process may say more.';
}

/** Python's own words, and those of the ready-made adapters. */
const MISSING_MODULE = /No module named|trainproof: \S+ is not installed/;

function isReadyMade(command: readonly string[]): boolean {
  return command.some((word) => word.startsWith('trainproof.adapters.'));
}
