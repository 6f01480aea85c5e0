// Every sentence about a trainer that failed, and what to do next. Built here and nowhere else, so that the
// same thing is always said the same way.
import type { Op } from '../protocol/message.ts';
import { shortened } from '../protocol/result.ts';
import { exitAdvice } from './advice.ts';
import { type Given, helloAdvice, raisedAdvice, shapeAdvice } from './answer-advice.ts';
import type { ChildExit } from './child.ts';
import type { Ended, Ending } from './connection.ts';
import type { TrainerFailure } from './failure.ts';
import { lastTraceback } from './traceback.ts';

/** The process ended while it owed an answer to `op` (hello included); undefined: while it owed none. */
export function endedFailure(
  ended: Pick<Ended, 'ending' | 'stderrTail'>,
  op: Op | 'hello' | undefined,
  command: readonly string[],
): TrainerFailure {
  const { ending, stderrTail } = ended;
  const tail = stderrTail === '' ? {} : { stderrTail };
  if (ending.kind === 'garbage') return { kind: 'garbage', ...garbageWords(ending, op), ...tail };
  if (ending.kind === 'hang') return { ...hangWords(ending, op), ...tail };
  if (ending.exit.spawnError !== undefined) {
    return { kind: 'start', ...spawnWords(ending.exit.spawnError, command) };
  }
  return { ...exitWords(ending, op, stderrTail, command), ...tail };
}

export function withReproduced(failure: TrainerFailure, op: Op, reproduced: boolean): TrainerFailure {
  const message = reproduced
    ? `${failure.message} It did so again when this ${op} request was sent alone to a fresh process.`
    : `${failure.message} It did not happen again when the unanswered requests were sent one at a time to a fresh process.`;
  const advice = reproduced
    ? failure.advice
    : 'Look for state that outlives a request, at the request answered just before, or for memory and time limits around the process.';
  return { ...failure, message, advice, reproduced };
}

export function helloFailure(complaint: string): TrainerFailure {
  return {
    kind: 'shape',
    message: `The trainer's hello is wrong: ${stopped(complaint)}`,
    advice: helloAdvice(complaint),
  };
}

export function changedHelloFailure(before: unknown, after: unknown): TrainerFailure {
  return {
    kind: 'shape',
    message: `After a restart the trainer said another hello: ${changedPart(before, after)}.`,
    advice: 'Make hello the same for every process of one run; nothing found so far is comparable otherwise.',
  };
}

export function refusedHelloFailure(answer: string, why: string): TrainerFailure {
  return {
    kind: 'start',
    message: `The trainer answered hello with ${answer}: ${why}`,
    advice: 'hello has no input to refuse: answer it with ok.',
  };
}

export function shapeFailure(op: Op, complaint: string): TrainerFailure {
  return {
    kind: 'shape',
    message: `The answer to ${op} is wrong: ${stopped(complaint)}`,
    advice: shapeAdvice(op, complaint),
  };
}

/** `given` tells the arguments as they crossed the pipe. */
export function raisedFailure(
  op: Op | 'hello',
  error: { readonly message: string; readonly traceback?: string },
  given?: Given,
): TrainerFailure {
  return {
    kind: 'error',
    message: `${op} raised: ${error.message}`,
    advice: raisedAdvice(op, error.message, given),
    ...(error.traceback === undefined ? {} : { traceback: error.traceback }),
  };
}

export function budgetFailure(restarts: number, last: TrainerFailure): TrainerFailure {
  return {
    kind: 'budget',
    message: `The trainer was restarted ${restarts} times and failed again, so nothing more was asked. Last: ${last.message}`,
    advice: last.advice,
    ...(last.stderrTail === undefined ? {} : { stderrTail: last.stderrTail }),
  };
}

/** `resident`: what it holds when it has said hello; undefined where this system does not tell. */
export function memoryLimitFailure(resident: number | undefined, limit: number): TrainerFailure {
  if (resident === undefined)
    return {
      kind: 'start',
      message: `How much memory the trainer holds cannot be read on this system (${process.platform}), so that a limit of it cannot be kept.`,
      advice: 'Renew it by requests instead (--renew-after).',
    };
  return {
    kind: 'start',
    message: `The trainer holds ${gigabytes(resident)} before its first request, so that a limit of ${gigabytes(limit)} cannot be kept.`,
    advice: 'Give it more (--renew-above), or renew it by requests (--renew-after).',
  };
}

/** `2.1 GB`. */
export function gigabytes(bytes: number): string {
  return `${Number((bytes / 1e9).toPrecision(3))} GB`;
}

export function stoppedFailure(): TrainerFailure {
  return {
    kind: 'crash',
    message: 'The harness stopped the trainer before it answered.',
    advice: 'Nothing is wrong with the trainer: the run was ended.',
  };
}

// --- the words ---

interface Words {
  readonly message: string;
  readonly advice: string;
}

function spawnWords(code: string, command: readonly string[]): Words {
  const file = command[0] ?? '';
  if (file === '')
    return {
      message: 'No trainer command was given.',
      advice: 'Write it after --, as in: check -- python adapter.py',
    };
  if (code === 'ENOENT') {
    return {
      message: `The command "${file}" was not found.`,
      advice: 'Check the spelling, activate the environment that has it, or write its full path.',
    };
  }
  if (code === 'EACCES') {
    return {
      message: `The file "${file}" is not executable.`,
      advice: `Run it through its interpreter (python ${file}), or make it executable (chmod +x ${file}).`,
    };
  }
  if (code === 'CWD') {
    return {
      message: 'The working folder of the trainer does not exist.',
      advice: 'Check the cwd of the configuration.',
    };
  }
  return {
    message: `The command "${file}" could not be started (${code}).`,
    advice: 'Run it by hand first.',
  };
}

function exitWords(
  ending: Ending & { kind: 'exit' },
  op: Op | 'hello' | undefined,
  stderrTail: string,
  command: readonly string[],
): Words & Pick<TrainerFailure, 'kind' | 'exitCode' | 'signal' | 'traceback'> {
  const { exit } = ending;
  const traceback = lastTraceback(stderrTail);
  const cause = traceback === undefined ? '' : ` Its last words: ${shortened(lastLine(traceback), 200)}`;
  const when =
    op === 'hello'
      ? 'before it said hello'
      : op === undefined
        ? 'while nothing was asked of it'
        : `while it owed an answer to ${op}`;
  const message = `The trainer ${howEnded(exit)} ${when}.${restWords(ending.rest)}${cause}`;
  return {
    kind: op === 'hello' ? 'start' : 'crash',
    message,
    advice: exitAdvice({ exit, op, command, stderrTail, traceback, rest: ending.rest }),
    ...(exit.exitCode === undefined ? {} : { exitCode: exit.exitCode }),
    ...(exit.signal === undefined ? {} : { signal: exit.signal }),
    ...(traceback === undefined ? {} : { traceback }),
  };
}

function howEnded(exit: ChildExit): string {
  if (exit.signal !== undefined) return `was killed by ${exit.signal}`;
  return exit.exitCode === 0 ? 'exited (code 0)' : `exited with code ${exit.exitCode}`;
}

function hangWords(
  ending: Ending & { kind: 'hang' },
  op: Op | 'hello' | undefined,
): Words & { readonly kind: 'start' | 'hang' } {
  const seconds = ending.milliseconds / 1000;
  if (op === 'hello') {
    return {
      kind: 'start',
      message: `The trainer did not say hello within ${seconds} s.${restWords(ending.rest)}`,
      advice:
        'Check that the adapter reads stdin and flushes its answers; give slow imports more time (--hello-timeout).',
    };
  }
  return {
    kind: 'hang',
    message: `The trainer did not answer ${op ?? ''} within ${seconds} s and was killed.${restWords(ending.rest)}`,
    advice: 'Look for a deadlock or an endless loop on this input; give slow ops more time (--op-timeout).',
  };
}

function restWords(rest: string): string {
  return rest === '' ? '' : ` Its last output had no newline: ${shortened(rest)}`;
}

function garbageWords(ending: Ending & { kind: 'garbage' }, op: Op | 'hello' | undefined): Words {
  const line = shortened(ending.line);
  const protocolAdvice = 'Answer each request once, in the order of the requests, repeating its id.';
  const due = op === undefined ? 'nothing' : op === 'hello' ? 'hello' : `an answer to ${op}`;
  switch (ending.reason) {
    case 'twice':
      return { message: `The trainer answered one request twice: ${line}`, advice: protocolAdvice };
    case 'unasked':
      return { message: `The trainer answered without being asked: ${line}`, advice: protocolAdvice };
    case 'wrong id':
      return {
        message: `The trainer answered with another id than ${ending.due}, which was due: ${line}`,
        advice: protocolAdvice,
      };
    case 'not UTF-8':
      return {
        message: `The trainer wrote a line that is not UTF-8 where ${due} was due: ${line}`,
        advice: 'Write UTF-8 (PYTHONUTF8=1), or use the SDK (import lossproof).',
      };
    case 'too long':
      return {
        message: `The trainer wrote a line of more than 64 MiB where ${due} was due: ${line}`,
        advice: 'Answer smaller tensors, or with tensors: "base64".',
      };
    default:
      return {
        message: `The trainer printed a line that is no answer where ${due} was due: ${line}`,
        advice:
          'Put `import lossproof` at the top of the adapter, before what prints: from there on every print goes to stderr. In another language print to stderr.',
      };
  }
}

/** Some complaints end in a question. */
function stopped(complaint: string): string {
  return complaint.endsWith('?') ? complaint : `${complaint}.`;
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1);
}

function changedPart(before: unknown, after: unknown): string {
  const old = (before ?? {}) as Record<string, unknown>;
  const now = (after ?? {}) as Record<string, unknown>;
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [was, is] = [JSON.stringify(old[key]), JSON.stringify(now[key])];
    if (was !== is) return `${key} was ${shortened(was ?? 'absent')}, now ${shortened(is ?? 'absent')}`;
  }
  return 'its keys stand in another order';
}
