// Evaluations beside a training loss: what overrules a rise of it. A curriculum, a mixture that changes and harder data make
// the training loss rise while the model becomes better, and held-out data say so.
import type { Series } from '../../../src/index.ts';

export interface Evaluations {
  add(series: Series, step: number, value: number): void;
  /** A held-out loss that was known at this step has been better since: one that begins behind a rise knows nothing of it. */
  improvedSince(step: number): boolean;
  /**
   * Of a climb, whose beginning is not to be told: a held-out loss was better than ever when it was last taken, behind this step,
   * and the next time has not passed.
   */
  isImproving(since: number, now: number): boolean;
}

/** Of a best one, that is no news. */
const SAME = 1e-3;
/** Times as long as there was between the last two, until the next is overdue. */
const LATE = 1.5;

export function evaluations(): Evaluations {
  const best = new Map<Series, { value: number; step: number; first: number; last: number; apart: number }>();
  return {
    add(series, step, value) {
      if (!Number.isFinite(value)) return;
      const known = best.get(series);
      // A run that goes back begins anew.
      if (known === undefined || step < known.last)
        best.set(series, { value, step, first: step, last: step, apart: 0 });
      else {
        known.apart = step - known.last;
        known.last = step;
        if (value < known.value * (1 - SAME)) Object.assign(known, { value, step });
      }
    },
    isImproving: (since, now) =>
      [...best.values()].some(
        ({ step, first, last, apart }) =>
          first < step && step > since && step === last && now <= last + LATE * apart,
      ),
    improvedSince: (step) => [...best.values()].some((each) => each.first <= step && each.step > step),
  };
}
