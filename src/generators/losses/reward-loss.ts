// What a reward model is trained with: the scores of a better and a worse answer, and by how much the better one should win.
import fc from 'fast-check';
import { rarely, twinned } from '../rarely.ts';
import { inSteps } from './gaps.ts';

export interface ScoredPair {
  readonly chosen: number;
  readonly rejected: number;
  readonly margin: number;
}

export interface ScoredPairs {
  readonly rows: readonly ScoredPair[];
}

const MAX_ROWS = 4;
/** Every difference of scores and margins is exact in bfloat16. */
const GRAIN = 8;
const MOST = 8;
const MOST_MARGIN = 3;
/** The sigmoid of minus this is 0 in float64, and float16 holds twice of it. */
const EXTREME = 10_000;
const EXTREME_ONE_IN = 3;
/** One batch in so many has all its numbers so many times as large: further apart than what a logarithm of 1e-8 is. */
const LARGE_ONE_IN = 5;
const LARGE = 8;

/** An arbitrary batch for op `reward_loss`; `extremes`: the two scores of some pairs are far apart. */
export function scoredPairs(
  options: { readonly minRows?: number; readonly extremes?: boolean } = {},
): fc.Arbitrary<ScoredPairs> {
  const far = options.extremes
    ? fc.nat(2 * EXTREME_ONE_IN - 1).map((n) => (n === 1 ? EXTREME : n === 2 ? -EXTREME : 0))
    : fc.constant(0);
  const row = fc
    .record({
      chosen: inSteps(-MOST, MOST, GRAIN),
      rejected: inSteps(-MOST, MOST, GRAIN),
      margin: inSteps(0, MOST_MARGIN, GRAIN),
      far,
    })
    .map(
      ({ far: by, chosen, rejected, margin }): ScoredPair =>
        by === 0 ? { chosen, rejected, margin } : { chosen: by, rejected: -by, margin },
    );
  return fc
    .record({
      rows: twinned(fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' })),
      margins: fc.boolean(),
      large: rarely(LARGE_ONE_IN),
    })
    .map(({ rows: drawn, margins, large }) => {
      const rows = margins ? drawn : drawn.map((each) => ({ ...each, margin: 0 }));
      return { rows: large ? rows.map(farther) : rows };
    });
}

const farther = (pair: ScoredPair): ScoredPair =>
  Math.abs(pair.chosen) === EXTREME
    ? pair
    : { chosen: LARGE * pair.chosen, rejected: LARGE * pair.rejected, margin: LARGE * pair.margin };

/** What a case of `reward_loss` exercises. */
export function scoredPairLabels({ rows }: ScoredPairs): string[] {
  const found: string[] = [];
  if (rows.length > 1) found.push('several rows');
  if (rows.some(({ chosen, rejected }) => chosen > rejected)) found.push('a pair that is right');
  if (rows.some(({ chosen, rejected }) => chosen < rejected)) found.push('a pair that is wrong');
  if (rows.some(({ margin }) => margin !== 0)) found.push('a margin');
  if (rows.some(({ chosen }) => Math.abs(chosen) === EXTREME)) found.push('an extreme difference');
  return found;
}
