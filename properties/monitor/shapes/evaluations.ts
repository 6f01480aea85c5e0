// Evaluations beside a training loss: what overrules a rise of it. A curriculum, a mixture that changes and harder data make
// the training loss rise while the model becomes better, and held-out data say so.
import type { Series } from '../../../src/index.ts';

export interface Evaluations {
  add(series: Series, step: number, value: number): void;
  /** A held-out loss was at its best at this step or after it. */
  improvedSince(step: number): boolean;
}

/** Of a best one, that is no news. */
const SAME = 1e-3;

export function evaluations(): Evaluations {
  const best = new Map<Series, { value: number; step: number; last: number; seen: number }>();
  return {
    add(series, step, value) {
      if (!Number.isFinite(value)) return;
      const known = best.get(series);
      // A run that goes back begins anew.
      if (known === undefined || step < known.last) best.set(series, { value, step, last: step, seen: 1 });
      else {
        known.last = step;
        known.seen++;
        if (value < known.value * (1 - SAME)) Object.assign(known, { value, step });
      }
    },
    improvedSince: (step) => [...best.values()].some((each) => each.seen > 1 && each.step > step),
  };
}
