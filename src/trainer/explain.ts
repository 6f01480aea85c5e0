// Every sentence about a trainer that failed, and what to do next. Built here, and in ended.ts where a process ended, and
// nowhere else, so that the same thing is always said the same way.
import type { Op, Raised } from '../protocol/message.ts';
import { shortened } from '../protocol/result.ts';
import { type Given, helloAdvice, raisedAdvice, shapeAdvice } from './answer-advice.ts';
import type { TrainerFailure } from './failure.ts';

/**
 * What came of it when it was asked again in a fresh process: the request failed as the only one of that process, failed
 * there behind others, each answered before the next was sent, and not alone, or did not fail again.
 */
export type Again = 'alone' | 'behind others' | 'never';

export function withReproduced(failure: TrainerFailure, op: Op, again: Again): TrainerFailure {
  const told: Readonly<Record<Again, string>> = {
    alone: `It did so again when this ${op} request was sent alone to a fresh process.`,
    'behind others': `It did so again in a fresh process that had answered other requests before, and did not when this ${op} request was sent alone to another.`,
    never: 'It did not happen again when the unanswered requests were sent one at a time to a fresh process.',
  };
  const ofTheProcess =
    'Look for state that outlives a request, at the request answered just before, or for memory and time limits around the process.';
  // Of a machine that was busy for a moment nothing is seen when it is asked again.
  const waiting =
    failure.kind === 'hang' && again === 'never'
      ? ' On a machine that has other work, give it more time (--op-timeout).'
      : '';
  return {
    ...failure,
    message: `${failure.message} ${told[again]}`,
    advice: again === 'alone' ? failure.advice : `${ofTheProcess}${waiting}`,
    reproduced: again === 'alone',
  };
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
export function raisedFailure(op: Op | 'hello', error: Raised, given?: Given): TrainerFailure {
  if (error.adapter)
    return {
      kind: 'adapter',
      message: `The adapter failed on ${op}, not the trainer: ${error.message}`,
      advice:
        'This says nothing of the trainer. Its version may be one that the adapter does not know; please report it with the traceback.',
      ...(error.traceback === undefined ? {} : { traceback: error.traceback }),
    };
  return {
    kind: 'error',
    message: `${op} raised: ${error.message}`,
    advice: raisedAdvice(op, error.message, given),
    ...(error.traceback === undefined ? {} : { traceback: error.traceback }),
    ...(error.restart ? { restarted: true } : {}),
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
    kind: 'stopped',
    message: 'The harness stopped the trainer before it answered.',
    advice: 'Nothing is wrong with the trainer: the run was ended.',
  };
}

/** Some complaints end in a question. */
function stopped(complaint: string): string {
  return complaint.endsWith('?') ? complaint : `${complaint}.`;
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
