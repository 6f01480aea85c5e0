// What a trainer's refusals cost a run: properties without a verdict, and a run without one.
import { MUCH_LEFT_OUT, type PropertyResult } from '../events.ts';

type Judged = Pick<PropertyResult, 'verdict'> &
  Partial<Pick<PropertyResult, 'cases' | 'rejected' | 'setAside'>>;

/**
 * The share of cases that a property may hold without. Correct trainers refuse up to two thirds, as whoever takes no system messages
 * does of batches of conversations; Hypothesis, too, ends a test that filters five of six. `--strict` asks for half.
 */
export function mostNotJudged(strict: boolean): number {
  return strict ? 0.5 : 0.8;
}

/** The trainer refused so much that the property has no verdict. */
export function isLostToRefusals({ verdict, rejected = 0, setAside = 0 }: Judged): boolean {
  return verdict === 'skipped' && rejected > 0 && rejected >= setAside;
}

/** It holds, on what the trainer did not refuse: less than four fifths of the cases. */
export function isMuchRefused({ verdict, cases = 0, rejected = 0 }: Judged): boolean {
  return verdict === 'pass' && rejected > cases * MUCH_LEFT_OUT;
}

/**
 * The trainer offers these ops and then refuses what most of its properties ask: whatever holds is no verdict on it. An
 * op that it does not offer costs nothing, because nobody takes it for checked.
 */
export function isMostlyRefused(results: readonly Judged[]): boolean {
  const holding = results.filter(({ verdict }) => verdict === 'pass' || verdict === 'known').length;
  return results.filter(isLostToRefusals).length > holding;
}
