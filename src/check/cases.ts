// The cases of one property and one seed, drawn a chunk at a time: a long run keeps little in memory, and the trainer
// works on one chunk while the next is drawn. The values are those that fast-check itself draws from this seed.
import fc from 'fast-check';

/** Chunks double up to this: the first case runs at once, and skipping to a later chunk stays cheap. */
const FIRST_CHUNK = 64;
const LARGEST_CHUNK = 2048;

export interface Cases<Case> {
  readonly count: number;
  /** In order, each once. */
  next(): Case;
  /** Any of them, drawn again. */
  at(index: number): Case;
}

export function drawCases<Case>(arbitrary: fc.Arbitrary<Case>, seed: number, count: number): Cases<Case> {
  const draw = (from: number, numRuns: number): Case[] =>
    // A path of one number is fast-check's way of naming the case to begin with.
    fc.sample(arbitrary, { seed, numRuns, ...(from === 0 ? {} : { path: String(from) }) });
  let chunk: Case[] = [];
  let [used, drawn, size] = [0, 0, FIRST_CHUNK];
  return {
    count,
    next() {
      if (used === chunk.length) {
        chunk = draw(drawn, Math.min(size, Math.max(1, count - drawn)));
        drawn += chunk.length;
        used = 0;
        size = Math.min(2 * size, LARGEST_CHUNK);
      }
      return chunk[used++] as Case;
    },
    at: (index) => draw(index, 1)[0] as Case,
  };
}
