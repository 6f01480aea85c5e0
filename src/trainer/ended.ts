// The sentence about a process that ended, or had to be ended, while it was being asked: how, when, and what to do next.
import { BYTE_ORDER_MARK } from '../outside/json.ts';
import type { Op } from '../protocol/message.ts';
import { shortened } from '../protocol/result.ts';
import { exitAdvice } from './advice.ts';
import type { ChildExit } from './child.ts';
import type { Ended, Ending } from './connection.ts';
import type { TrainerFailure } from './failure.ts';
import { firstRankIn } from './torchrun.ts';
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
  if (ending.kind === 'restart') return { kind: 'crash', ...RESTART_WORDS, ...tail };
  if (ending.kind === 'closed')
    return { kind: op === 'hello' ? 'start' : 'crash', ...closedWords(ending, op), ...tail };
  if (ending.exit.spawnError !== undefined) {
    return { kind: 'start', ...spawnWords(ending.exit.spawnError, command) };
  }
  return { ...exitWords(ending, op, stderrTail, command), ...tail };
}

interface Words {
  readonly message: string;
  readonly advice: string;
}

/** Told only where there are too many of them. */
const RESTART_WORDS: Words = {
  message: 'The trainer answered that it cannot go on and asked for a fresh process.',
  advice: 'Look at the error that it answered: one of its processes waits for another one that has failed.',
};

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
  const first = firstRankIn(stderrTail);
  const which = first === undefined ? '' : ` First failure: ${first}.`;
  const message = `The trainer ${howEnded(exit)} ${whenEnded(op)}.${restWords(ending.rest)}${which}${cause}`;
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

function whenEnded(op: Op | 'hello' | undefined): string {
  if (op === 'hello') return 'before it said hello';
  return op === undefined ? 'while nothing was asked of it' : `while it owed an answer to ${op}`;
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

function closedWords(ending: Ending & { kind: 'closed' }, op: Op | 'hello' | undefined): Words {
  return {
    message: `The trainer closed its standard output ${whenEnded(op)}, and was killed, because it can send no more answers.${restWords(ending.rest)}`,
    advice:
      'Leave file descriptor 1 open: look for os.close(1), sys.stdout.close(), or a library that turns the process into a daemon.',
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
      if (ending.line.startsWith(BYTE_ORDER_MARK))
        return {
          message: `The trainer wrote a byte order mark (U+FEFF) before the line where ${due} was due: ${shortened(ending.line.slice(1))}`,
          advice: 'Write UTF-8 without one: encoding="utf-8", not "utf-8-sig".',
        };
      // Nothing that somebody prints begins so: it is an answer, and what is wrong with it is what helps.
      if (ending.complaint !== undefined && /^\{\s*"id"/.test(ending.line))
        return {
          message: `The trainer wrote JSON that cannot be read where ${due} was due (${ending.complaint}): ${line}`,
          advice: 'Write each answer as one line of JSON, within the limits in PROTOCOL.md.',
        };
      return {
        message: `The trainer printed a line that is no answer where ${due} was due: ${line}`,
        advice:
          'Put `import lossproof` at the top of the adapter, before what prints: from there on every print goes to stderr. In another language print to stderr.',
      };
  }
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1);
}
