// A number for each stretch of a row of ids, so that thousands of rows find theirs among thousands of prompts at once.
// Equal stretches have equal numbers; what has an equal number is compared all the same.
import type { Ids } from '../../vocabulary.ts';

export interface Hashed {
  /** Of the ids [from, to). */
  of(from: number, to: number): number;
}

/** Polynomial in BASE modulo 2^32: sums over all ids before are kept, and a stretch is a difference of two. */
export function hashed(ids: Ids): Hashed {
  const sums = new Int32Array(ids.length + 1);
  const powers = new Int32Array(ids.length + 1);
  powers[0] = 1;
  for (const [at, id] of ids.entries()) {
    sums[at + 1] = (Math.imul(sums[at] ?? 0, BASE) + id + 1) | 0;
    powers[at + 1] = Math.imul(powers[at] ?? 0, BASE);
  }
  return {
    of: (from, to) => ((sums[to] ?? 0) - Math.imul(sums[from] ?? 0, powers[to - from] ?? 0)) | 0,
  };
}

/** The number of a whole row. */
export function hashOf(ids: Ids): number {
  let sum = 0;
  for (const id of ids) sum = (Math.imul(sum, BASE) + id + 1) | 0;
  return sum;
}

// --- helpers ---

/** Any odd number that spreads; this one is the golden ratio's of 32 bits. */
const BASE = 0x9e3779b1;
