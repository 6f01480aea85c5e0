// A deadline for what data from outside makes us compute: a tokenizer's regular expressions, a chat template. V8 itself
// ends the work, in the middle of a regular expression, too, so that everything stays synchronous and on one thread, and
// a signal is heard within the deadline. Node's `breakOnSigint` would hear it at once, and must not be used: it takes the
// listeners away for each call, and with them every signal that came earlier in this turn of the event loop.
// It costs 30 microseconds a call, and five times that where others have the machine, as it starts a thread; a worker that is
// waited for costs more, and would have to be given the tokenizer again.
import { Script } from 'node:vm';

/** Work that was given up; the message is the sentence for the user. Thrown where there is no value to say it with. */
export class Overrun extends Error {}

export type Timed<T> = { readonly done: T } | { readonly overrun: true };

/** What work on so many characters may take: a hundred times what it takes where nothing is wrong. */
export function patience(characters: number): number {
  return Math.ceil(LEAST_MILLISECONDS + characters * MILLISECONDS_PER_CHARACTER);
}

/** Runs `work` for so many milliseconds at most; it must change nothing that outlives it where it is ended. */
export function timed<T>(milliseconds: number, work: () => T): Timed<T> {
  for (let trial = 1, most = milliseconds; ; trial++, most *= 2) {
    const before = process.cpuUsage();
    const outer = slot.work;
    let done: { readonly value: T } | undefined;
    slot.work = () => {
      done = { value: work() };
    };
    try {
      SCRIPT.runInThisContext({ timeout: most });
      if (done !== undefined) return { done: done.value };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'))
        throw error;
    } finally {
      slot.work = outer;
    }
    // The process was stopped, or others had the machine: the clock went on, and this did not.
    const { user, system } = process.cpuUsage(before);
    if (trial === TRIALS || user + system > most * 1_000 * WORKED) return { overrun: true };
  }
}

/** What all calls of one template, or of one tokenizer, may take together: what each may that is given so much text, and a little more. */
export class Budget {
  private milliseconds = 2_000;

  /** As `timed`; once all is spent, nothing is begun. */
  timed<T>(characters: number, work: () => T): Timed<T> {
    if (this.milliseconds < 0) return { overrun: true };
    const [before, begun] = [process.cpuUsage(), performance.now()];
    try {
      return timed(patience(characters), work);
    } finally {
      const { user, system } = process.cpuUsage(before);
      // Other threads work as well, and others have the machine.
      const spent = Math.min((user + system) / 1_000, performance.now() - begun);
      this.milliseconds += MILLISECONDS_OF_CALL + characters * CREDIT_PER_CHARACTER - spent;
    }
  }
}

/** Ten times what the call takes by itself. */
const MILLISECONDS_OF_CALL = 1;
/** Ten times what random letters take on a SentencePiece vocabulary, the slowest text there is. */
const CREDIT_PER_CHARACTER = 0.05;
const TRIALS = 3;
/** A share of the time that is enough to say that it was work, and not waiting for a machine that others have. */
const WORKED = 0.5;
const LEAST_MILLISECONDS = 1_500;
const MILLISECONDS_PER_CHARACTER = 0.02;

/** A script reaches nothing but the global object. */
const slot: { work: () => void } = { work: () => {} };
Object.defineProperty(globalThis, Symbol.for('lossproof.timed'), { value: slot, configurable: true });
const SCRIPT = new Script("globalThis[Symbol.for('lossproof.timed')].work()");
