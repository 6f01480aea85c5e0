// Logits at a real vocabulary: too many to be part of a case, so a case names the seed that they are drawn from.
import fc from 'fast-check';
import type { Ids } from '../../vocabulary.ts';

export interface FullSize {
  readonly vocabulary: number;
  readonly seed: number;
  /** One row; the first token is the prompt. */
  readonly ids: Ids;
}

/** Llama 2, GPT-2, Llama 3, Qwen 2.5: none of the last three is a multiple of the usual chunks. */
export const VOCABULARIES = [32_000, 50_257, 128_256, 151_936];
const SEEDS = 1_000;
const MOST_TOKENS = 3;
/** What is left over of the last chunk, however it is cut. */
const LAST = 64;

/** An arbitrary row over one of these vocabularies, often at the end of it. */
export function fullSize(): fc.Arbitrary<FullSize> {
  return fc.constantFrom(...VOCABULARIES).chain((vocabulary) => {
    const id = fc.oneof(
      fc.nat(vocabulary - 1),
      fc.nat(LAST - 1).map((back) => vocabulary - 1 - back),
    );
    return fc.record({
      vocabulary: fc.constant(vocabulary),
      seed: fc.nat(SEEDS - 1),
      ids: fc.array(id, { minLength: 2, maxLength: MOST_TOKENS, size: 'max' }),
    });
  });
}

/**
 * The logits of each token, (T, V), exact in every float format: eighths within ±8, with peaks at a few ids and on the
 * last ones, so that no part of the vocabulary may be left out.
 */
export function fullSizeLogits({ vocabulary, seed, ids }: FullSize): Float32Array[] {
  let state = (seed + 1) * ODD;
  const next = (): number => {
    state = Math.imul(state ^ (state >>> 15), ODD) + STEP;
    return (state >>> 8) % RANGE;
  };
  return ids.map(() => {
    const row = Float32Array.from({ length: vocabulary }, () => next() / GRAIN - RANGE / GRAIN / 2);
    for (let peak = 0; peak < PEAKS; peak++) row[(next() * RANGE + next()) % vocabulary] = PEAK;
    row[vocabulary - 1 - (next() % LAST)] = PEAK;
    return row;
  });
}

// --- helpers ---

const GRAIN = 8;
const RANGE = 129;
const PEAKS = 3;
/** As likely as all the others together: exp(12) against 150,000 times the mean of exp. */
const PEAK = 14;
const ODD = 0x2c1b3c6d;
const STEP = 0x9e3779b9;
