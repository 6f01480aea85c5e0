// Answers that several properties share. Most of a run is the trainer's work, and many properties ask the same request: it is
// sent once, and each of them judges the answer. A check that needs a second answer to the same request asks `anew`.
import { hash } from 'node:crypto';
import type { Args, Ok, Op } from '../protocol/message.ts';
import type { Outcome, Trainer } from './trainer.ts';

export interface SharedAnswers {
  /** The same trainer; a request that was answered before, by it or by another of this run, is not sent again. */
  of(trainer: Trainer): Trainer;
}

/**
 * For all kept answers. A trainer with large ones keeps those of the last ops: that is enough, because the properties of one op follow
 * each other.
 */
const MOST_BYTES = 192 * 2 ** 20;
/** A larger answer is asked for again: a few of them would push out all others. */
const MOST_OF_ONE = 2 ** 20;
/** A number in an array, or a key with a short value. */
const BYTES_OF_A_VALUE = 8;
/** Key, promise and map entry. */
const BYTES_OF_AN_ENTRY = 400;

interface Entry {
  readonly asked: Trainer;
  readonly outcome: Promise<Outcome<Ok<Op>>>;
  bytes: number;
}

export function sharedAnswers(mostBytes = MOST_BYTES): SharedAnswers {
  // The oldest first, as a Map keeps them.
  const kept = new Map<string, Entry>();
  let bytes = 0;

  const drop = (key: string): void => {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };

  function shared<O extends Op>(trainer: Trainer, op: O, args: Args<O>): Promise<Outcome<Ok<O>>> {
    const key = hash('sha1', trainer.line(op, args), 'base64');
    const before = kept.get(key);
    if (before !== undefined) {
      // The key names the op, so the answer is of this op.
      const awaited = before.outcome as Promise<Outcome<Ok<O>>>;
      if (before.asked === trainer) return awaited;
      // A process that dies while this one waits for its answer fails nobody but whoever asked it.
      return awaited.then((settled) => (settled.kind === 'failure' ? trainer.ask(op, args) : settled));
    }
    const outcome = trainer.ask(op, args);
    const entry: Entry = { asked: trainer, outcome: outcome as Entry['outcome'], bytes: 0 };
    kept.set(key, entry);
    void outcome.then((settled) => {
      if (kept.get(key) !== entry) return;
      const size = sizeOf(settled, MOST_OF_ONE);
      // A process that failed may answer next time.
      if (settled.kind === 'failure' || size >= MOST_OF_ONE) return drop(key);
      entry.bytes = size + BYTES_OF_AN_ENTRY;
      bytes += entry.bytes;
      for (const oldest of kept.keys()) {
        if (bytes <= mostBytes) break;
        if (oldest !== key) drop(oldest);
      }
    });
    return outcome;
  }

  return {
    of: (trainer) => ({
      ...trainer,
      ask: (op, args, how) => (how?.anew === true ? trainer.ask(op, args, how) : shared(trainer, op, args)),
    }),
  };
}

/** Bytes of a value in memory, roughly; counting stops at `most`. */
function sizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + BYTES_OF_A_VALUE;
  if (typeof value !== 'object' || value === null) return BYTES_OF_A_VALUE;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let size = BYTES_OF_A_VALUE;
  for (const each of Object.values(value)) {
    size += sizeOf(each, most - size);
    if (size >= most) break;
  }
  return size;
}
