// A model that is destroyed by its first steps and learns anew: within the first logged values the loss climbs to at least
// two and a half times what it began with, and dozens of values later it is still above that. A rate that is a hundred times too large does
// so, and what is left of the curve looks like a run that learns. Other data make the loss jump from one value to the next; this
// takes several, and the gradients grow with it. So much, and a nat besides, is beyond what batches differ by.
import { median } from '../../../src/index.ts';
import { recent } from './rolling.ts';

export interface BrokenStart {
  readonly start: number;
  readonly peak: number;
  /** Of the first value that has left the start. */
  readonly from: number;
  readonly level: number;
}

/** Values among which it happens. */
const FIRST = 24;
/** From here on it should have come back; long behind it, another rule tells of it. */
const LATER = 45;
const LATEST = 400;
const LAST = 15;
const TIMES = 2.5;
const NATS = 1;
/** Times its start, that it still is. */
const STILL = 1.1;
/** Parts of the height between which values tell a climb from a jump. */
const BETWEEN = 0.12;
/** Times the first norms. */
const STEEPER = 2;

export function brokenStart() {
  const first: { step: number; value: number }[] = [];
  const norms: number[] = [];
  const last = recent(LAST);
  let count = 0;
  return {
    norm(value: number): void {
      if (Number.isFinite(value) && norms.length < FIRST) norms.push(value);
    },
    add(step: number, value: number): BrokenStart | undefined {
      if (first.length < FIRST) first.push({ step, value });
      if (count < LATEST) last.add(step, value);
      if (++count < LATER || count > LATEST || count % (LAST / 3) !== 0) return undefined;
      const values = first.map((each) => each.value);
      const start = median(values.slice(0, 3));
      const levels = values.slice(2).map((_, at) => median(values.slice(at, at + 3)));
      const peak = Math.max(...levels);
      const level = median(last.values());
      const height = peak - start;
      const grown = norms.length < FIRST || Math.max(...norms) >= STEEPER * median(norms.slice(0, 3));
      if (!grown || peak < TIMES * start || height < NATS || level < STILL * start) return undefined;
      const top = values.findIndex((each) => each >= start + (1 - BETWEEN) * height);
      const climbing = values.slice(0, top).filter((each) => each > start + BETWEEN * height);
      if (top < 0 || climbing.length === 0) return undefined;
      return { start, peak, level, from: first[values.indexOf(climbing[0] as number)]?.step ?? step };
    },
  };
}
