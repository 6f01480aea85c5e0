// Old weights in the engine: the gap is wider the more updates lie between.
import type { Cause } from '../cause.ts';
import { factors, pairs, rounded } from './curves.ts';
import { bestWidth } from './widths.ts';

export const staleWeights: Cause = {
  id: 'stale-weights',
  fitTo(tokens, { places }) {
    const { age } = tokens;
    let oldest = 0;
    for (const at of places) {
      if (Number.isNaN(age[at])) return undefined;
      oldest = Math.max(oldest, age[at] ?? 0);
    }
    if (oldest === 0) return undefined;
    const widthAt =
      (slope: number, power: number) =>
      (at: number): number =>
        1 + slope * (age[at] ?? 0) ** power;
    const best = bestWidth(tokens, places, pairs(factors(0.1, 200, 34), [0.5, 1]), ([slope, power]) =>
      widthAt(slope, power),
    );
    if (best === undefined) return undefined;
    const [slope, power] = best;
    return {
      parameters: { growth: slope, power },
      width: widthAt(slope, power),
      sentence: `The gap grows with the age of the weights, to ${rounded(1 + slope * oldest ** power)} times at ${oldest} ${oldest === 1 ? 'update' : 'updates'} beyond the freshest: rows were sampled from older weights than the trainer has.`,
      experiment: 'sample 50 completions right after a weight sync, before any update: the gap goes',
    };
  },
};
