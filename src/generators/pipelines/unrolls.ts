// Windows over segments of a replay buffer, for op `unroll`: some end within their segment, some reach beyond it.
import fc from 'fast-check';
import type { Ids } from '../../vocabulary.ts';
import { rarely } from '../rarely.ts';

export interface UnrollRow {
  /** One a step, and the one after the last. */
  readonly observations: Ids;
  readonly actions: Ids;
  readonly rewards: readonly number[];
  readonly start: number;
}
export interface Unroll {
  readonly rows: readonly UnrollRow[];
  readonly steps: number;
}

const MAX_ROWS = 3;
const MAX_STEPS = 5;
const MAX_WINDOW = 4;
/** No id is 0, which is what windows are padded with; neighbours differ, so that a shift shows. */
const IDS = 29;
/** Observations of some segments are further up, as far as the vocabulary goes: neither one byte nor two hold them. Actions are few. */
const LARGE_ONE_IN = 4;
const LARGE = 2 ** 17 + 2 ** 8;
/** One batch in so many has segments, and a window, of so many times the steps. */
const LONG_ONE_IN = 10;
const LONGER = 60;

/** Arbitrary windows of some steps over segments, each from a start within its segment; ids of observations are below `most`. */
export function unrolls(most = Number.POSITIVE_INFINITY): fc.Arbitrary<Unroll> {
  const offset = Math.min(LARGE, most - IDS - 1);
  const row = fc.record({
    length: fc.integer({ min: 1, max: MAX_STEPS }),
    first: fc.nat(IDS),
    start: fc.nat(MAX_STEPS - 1),
    large: offset > 0 ? rarely(LARGE_ONE_IN) : fc.constant(false),
  });
  return fc
    .record({
      rows: fc.array(row, { minLength: 1, maxLength: MAX_ROWS }),
      steps: fc.integer({ min: 1, max: MAX_WINDOW }),
      long: rarely(LONG_ONE_IN),
    })
    .map(({ rows, steps, long }) => {
      const times = long ? LONGER : 1;
      return {
        steps: times * steps,
        rows: rows.map(({ length, first, start, large }): UnrollRow => {
          const counted = (count: number, from: number): number[] =>
            Array.from({ length: count }, (_, at) => 1 + ((from + at) % IDS));
          const ids = (count: number, from: number): number[] =>
            counted(count, from).map((id) => (large ? offset + id : id));
          return {
            observations: ids(times * length + 1, first),
            actions: counted(times * length, first + MAX_STEPS),
            rewards: counted(times * length, first).map((n) => (n % 4 === 0 ? 0 : n / 4)),
            start: times * (start % length),
          };
        }),
      };
    });
}

/** Where the windows end. */
export function unrollLabels({ rows, steps }: Unroll): string[] {
  const labels: string[] = [];
  const left = rows.map(({ actions, start }) => actions.length - start);
  if (rows.length > 1) labels.push('several rows');
  if (new Set(left).size > 1) labels.push('unequal segments');
  if (left.some((count) => count < steps)) labels.push('window beyond the end');
  if (left.includes(steps)) labels.push('window up to the end');
  if (left.some((count) => count > steps)) labels.push('window within');
  if (rows.some(({ start }) => start > 0)) labels.push('start after the first step');
  return labels;
}
