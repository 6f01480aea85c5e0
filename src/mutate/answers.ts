// What a trainer answered, as one number whatever the order: whether a change shows in any answer is told by comparing two.
import { createHash } from 'node:crypto';
import type { Trainer } from '../trainer/trainer.ts';

export interface Answers {
  readonly trainer: Trainer;
  /** Of those since it was asked last. */
  take(): { readonly print: string; readonly requests: number; readonly slowest: number };
}

export function watchAnswers(trainer: Trainer): Answers {
  let sum = 0n;
  let requests = 0;
  let slowest = 0;
  let answered = 0;
  return {
    trainer: {
      ...trainer,
      async ask(op, args) {
        const sent = performance.now();
        const outcome = await trainer.ask(op, args);
        const now = performance.now();
        // Requests wait for those before them: what the trainer took begins with the answer before.
        slowest = Math.max(slowest, now - Math.max(sent, answered));
        answered = now;
        requests++;
        sum = BigInt.asUintN(BITS, sum + printOf([op, outcome]));
        return outcome;
      },
    },
    take() {
      const taken = { print: `${requests} ${sum.toString(16)}`, requests, slowest };
      sum = 0n;
      requests = 0;
      slowest = 0;
      return taken;
    },
  };
}

const BITS = 64;

function printOf(value: unknown): bigint {
  return createHash('sha1').update(JSON.stringify(value, plain)).digest().readBigUInt64LE();
}

/** Numbers that JSON does not have, and arrays of numbers, which it has as objects. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  return value;
}
