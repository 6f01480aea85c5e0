// A deadline for what data from outside makes us compute: a tokenizer's regular expressions, a chat template. It is one of
// CPU time: a busy machine takes longer, and refuses nothing. V8 itself ends the work, in the middle of a regular expression,
// too, so that everything stays synchronous and on one thread, and a signal is heard within the deadline. V8 can only watch
// the clock, so when its watch goes off, we look at the CPU time that the work really had.
// Node's `breakOnSigint` would hear a signal at once, and must not be used: it takes the
// listeners away for each call, and with them every signal that came earlier in this turn of the event loop.
// It costs 30 microseconds per call, and five times that where others have the machine, as it starts a thread; a worker that is
// waited for costs more, and would have to be given the tokenizer again.
import { Script } from 'node:vm';
import { bound, LONGEST_TIMER } from '../bounds.ts';

/** Work that was given up; the message is the sentence for the user. Thrown where there is no value to say it with. */
export class Overrun extends Error {}

export type Timed<T> = { readonly done: T } | { readonly overrun: true };

/** What work on so many characters may take: a hundred times what it takes where nothing is wrong. */
export function patience(characters: number): number {
  return Math.ceil(LEAST_MILLISECONDS + characters * MILLISECONDS_PER_CHARACTER);
}

/**
 * Runs `work` until it has had so many milliseconds of CPU time. Work that the clock ended before is begun again, with as
 * much more of it as its CPU time says: it must change nothing that outlives it where it is ended. Work without an end gets its CPU time at last.
 */
export function timed<T>(milliseconds: number, work: () => T): Timed<T> {
  for (let wall = milliseconds * SLACK; ; ) {
    const used = stopwatch();
    const outer = slot.work;
    let done: { readonly value: T } | undefined;
    slot.work = () => {
      done = { value: work() };
    };
    try {
      SCRIPT.runInThisContext({ timeout: Math.min(Math.ceil(wall), LONGEST_TIMER) });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'))
        throw error;
    } finally {
      slot.work = outer;
    }
    if (done !== undefined) return { done: done.value };
    const had = used();
    if (had >= milliseconds) return { overrun: true };
    wall *= Math.max(LEAST_GROWTH, Math.min(MOST_GROWTH, (milliseconds * SLACK) / had));
  }
}

/** What all calls of one template, or of one tokenizer, may take together: what each may that is given so much text, and a little more. */
export class Budget {
  private milliseconds = BUDGET_MILLISECONDS;

  /** As `timed`; once all is spent, nothing is begun. */
  timed<T>(characters: number, work: () => T): Timed<T> {
    if (this.milliseconds < 0) return { overrun: true };
    const most = patience(characters);
    // What is ended had all of it; of what is begun again only the last counts.
    let spent = most;
    try {
      return timed(most, () => {
        const used = stopwatch();
        try {
          return work();
        } finally {
          spent = used();
        }
      });
    } finally {
      this.milliseconds += CREDIT_PER_CALL + characters * CREDIT_PER_CHARACTER - spent;
    }
  }
}

/** The milliseconds of CPU time since it was started. */
function stopwatch(): () => number {
  const [before, begun] = [cpuUsage(), performance.now()];
  return () => {
    const { user, system } = cpuUsage(before);
    // This thread has had no more than that: where Node counts the whole process, others work as well.
    return Math.min((user + system) / 1_000, performance.now() - begun);
  };
}

/** Of this thread, since Node 24. */
const { threadCpuUsage: cpuUsage = process.cpuUsage } = process as {
  readonly threadCpuUsage?: typeof process.cpuUsage;
};

const BUDGET_MILLISECONDS = bound({
  of: 'all calls of one tokenizer, or of one template, besides a millisecond per call and 50 µs per character',
  cpu: 2_000,
  over: 'the command ends without a verdict, or the template is refused',
});
/** Ten times what the call takes by itself. */
const CREDIT_PER_CALL = 1;
/** Ten times what random letters take on a SentencePiece vocabulary, the slowest text there is. */
const CREDIT_PER_CHARACTER = 0.05;
/** The watch goes off a little later than the CPU time is over on a machine that has no other work: then it is looked at once. */
const SLACK = 1.2;
/** How much longer work is watched that is begun again: it may have had nearly all, or nothing, because the process was stopped. */
const LEAST_GROWTH = 2;
const MOST_GROWTH = 8;
const LEAST_MILLISECONDS = bound({
  of: 'one text of a tokenizer, one rendering or compilation of a chat template',
  cpu: 1_500,
  over: 'the tokenizer or template is refused, or the command ends without a verdict',
});
const MILLISECONDS_PER_CHARACTER = bound({
  of: 'one text of a tokenizer, one rendering or compilation of a chat template: each character, in addition',
  cpu: 0.02,
  over: 'the tokenizer or template is refused, or the command ends without a verdict',
});

/** A script reaches nothing but the global object. */
const slot: { work: () => void } = { work: () => {} };
Object.defineProperty(globalThis, Symbol.for('lossproof.timed'), { value: slot, configurable: true });
const SCRIPT = new Script("globalThis[Symbol.for('lossproof.timed')].work()");
