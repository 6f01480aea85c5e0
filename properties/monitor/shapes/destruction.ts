// A model that knew the language and no longer does. What is left of a model whose weights were destroyed is the frequency
// of words, which it learns again within a few steps: about 6.5 to 7.5 nats per token of text for vocabularies of 32,000 to
// 262,144 (Shannon's unigram entropy of English words is 8 to 10 bits, of which a tokenizer makes more of the rare ones),
// between a half and two thirds of ln V. A loss that began at a third of that, 3 nats below, and stays above half of ln V
// has no healthy cause: data that cost so much are no text, or of another tokenizer.
import { LEVEL_OF, recent } from './rolling.ts';

export interface Destroyed {
  readonly from: number;
  readonly start: number;
  readonly level: number;
  readonly limit: number;
}

/** Times its first level, nats above it, and of what a blind guess costs. */
const TIMES = 3;
const NATS = 3;
const SHARE_OF_GUESS = 0.5;
/** Below so much of its height it is falling again: a spike that is long. */
const HOLDS = 0.9;

/** `needed` levels in a row; twice as many while it falls. */
export function destruction(needed: number): {
  add(step: number, value: number, guess: number): Destroyed | undefined;
} {
  let seen = recent(2 * LEVEL_OF);
  let start = Number.NaN;
  let from = Number.NaN;
  let points = 0;
  let peak = 0;
  let last = Number.NEGATIVE_INFINITY;
  return {
    add(step, value, guess) {
      if (step < last) {
        seen = recent(2 * LEVEL_OF);
        start = Number.NaN;
        points = 0;
      }
      last = step;
      seen.add(step, value);
      const level = seen.level();
      // The first three: a run that is lost at once has no more that are its own.
      if (seen.count <= FIRST) start = seen.value(0) < start || Number.isNaN(start) ? seen.value(0) : start;
      if (seen.count < LEVEL_OF || !(start > 0) || start > guess) return undefined;
      const limit = Math.max(TIMES * start, start + NATS, SHARE_OF_GUESS * guess);
      if (level <= limit) {
        points = 0;
        return undefined;
      }
      if (points++ === 0) {
        let back = 0;
        while (seen.value(back + 1) > limit) back++;
        from = seen.step(back);
        peak = 0;
      }
      peak = Math.max(peak, level);
      const enough = level >= HOLDS * peak ? needed : 2 * needed;
      return points >= enough ? { from, start, level, limit } : undefined;
    },
  };
}

const FIRST = 3;
