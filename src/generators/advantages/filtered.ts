// Rollouts for a filter, op `filter_rollouts`: groups with and without spread, rows that were cut off, that are too long, or
// whose reward is out of bounds. No length and no reward stands at a bound, where trainers differ.
import fc from 'fast-check';

export interface FilteredRow {
  readonly reward: number;
  readonly length: number;
  readonly truncated: boolean;
}

export interface Filtered {
  readonly groups: readonly (readonly FilteredRow[])[];
  /** The rows of a group do not stand together: first rows first. */
  readonly interleaved: boolean;
  readonly max_length: number;
  readonly min_reward: number;
  readonly max_reward: number;
}

export interface FilteredOptions {
  /** Rows of each group, where the trainer is fixed to one number. */
  readonly size?: number | undefined;
  /** Rows of a group need not stand together. */
  readonly interleaved?: boolean | undefined;
  readonly minGroups?: number;
  /** All rows are whole, short enough and within the bounds. */
  readonly plain?: boolean;
}

const MAX_GROUPS = 3;
const MAX_GROUP = 4;
const MAX_LENGTH = 8;
const MAX_OVER = 4;
/** One row in so many is cut off, and as many are too long. */
const CUT_ONE_IN = 8;
/** Rewards are quarters, so that none is a bound, nor is the mean of up to four. */
const BOUNDS = [
  [-0.6, 0.9],
  [-1.3, 1.3],
  [0.1, 3.1],
] as const;
/** Beyond all rewards. */
const FAR = 64;

/** Quarters, so that equal ones have an exact mean. */
const quarter = fc.integer({ min: -6, max: 6 }).map((n) => n / 4 + 0);

/** Rewards of one group: all equal, as far above 0 as below, 0 and 1, or any. */
function rewardsOf(size: number): fc.Arbitrary<readonly number[]> {
  const rows = (reward: fc.Arbitrary<number>) => fc.array(reward, { minLength: size, maxLength: size });
  const repeated = (values: readonly number[]): number[] =>
    Array.from({ length: size }, (_, at) => values[at % values.length] ?? 0);
  return fc.oneof(
    { weight: 3, arbitrary: quarter.map((reward) => repeated([reward])) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1).map((reward) => repeated([reward])) },
    { weight: 2, arbitrary: fc.constantFrom([1, -1], [-0.5, 0.5], [0.25, -0.25]).map(repeated) },
    // A row that stands at the mean of the others, which differ.
    {
      weight: 2,
      arbitrary: quarter.map((reward) => repeated([reward + 0.5, reward - 0.5, reward]).slice(0, size)),
    },
    { weight: 2, arbitrary: rows(fc.constantFrom(0, 1)) },
    { weight: 3, arbitrary: rows(quarter) },
  );
}

/** Groups of rollouts, two rows each at least, with bounds that no length and no reward stands at. */
export function filtered(options: FilteredOptions = {}): fc.Arbitrary<Filtered> {
  const { size, interleaved, minGroups = 1, plain = false } = options;
  const row = fc.record({
    length: fc.integer({ min: 1, max: MAX_LENGTH - 1 }),
    over: fc.integer({ min: 1, max: MAX_OVER }),
    kind: plain
      ? fc.constant('plain' as const)
      : fc.oneof(
          { weight: CUT_ONE_IN - 2, arbitrary: fc.constant('plain' as const) },
          { weight: 1, arbitrary: fc.constant('truncated' as const) },
          { weight: 1, arbitrary: fc.constant('long' as const) },
        ),
  });
  const group = (size === undefined ? fc.integer({ min: 2, max: MAX_GROUP }) : fc.constant(size)).chain(
    (rows) => fc.tuple(rewardsOf(rows), fc.array(row, { minLength: rows, maxLength: rows })),
  );
  return fc
    .record({
      groups: fc.array(group, { minLength: minGroups, maxLength: Math.max(minGroups, MAX_GROUPS) }),
      interleaved: interleaved === true ? fc.boolean() : fc.constant(false),
      bounds: plain ? fc.constant([-FAR, FAR] as const) : fc.constantFrom([-FAR, FAR] as const, ...BOUNDS),
    })
    .map(({ groups, interleaved, bounds: [min_reward, max_reward] }) => ({
      groups: groups.map(([rewards, rows]) =>
        rows.map(({ length, over, kind }, at) => ({
          reward: rewards[at] ?? 0,
          length: kind === 'long' ? MAX_LENGTH + over : length,
          truncated: kind === 'truncated',
        })),
      ),
      interleaved,
      max_length: MAX_LENGTH,
      min_reward,
      max_reward,
    }));
}

/** The request: group after group, or the first row of each group, then the second. */
export function rolloutsOf({ groups, interleaved, ...bounds }: Filtered) {
  const rows = groups.flatMap((group, at) => group.map((row, place) => ({ ...row, group: at, place })));
  const ordered = interleaved ? rows.toSorted((a, b) => a.place - b.place || a.group - b.group) : rows;
  return {
    rewards: ordered.map(({ reward }) => reward),
    group_ids: ordered.map(({ group }) => group),
    lengths: ordered.map(({ length }) => length),
    truncated: ordered.map(({ truncated }) => Number(truncated)),
    ...bounds,
  };
}

/** What filtered rollouts exercise. */
export function filteredLabels({ groups, interleaved, ...bounds }: Filtered): string[] {
  const rows = groups.flat();
  const labels: string[] = interleaved && groups.length > 1 ? ['interleaved groups'] : [];
  if (groups.length > 1) labels.push('several groups');
  if (groups.some(isEqual)) labels.push('equal rewards');
  if (groups.some((group) => !isEqual(group))) labels.push('rewards that differ');
  if (groups.some((group) => !isEqual(group) && group.reduce((sum, { reward }) => sum + reward, 0) === 0))
    labels.push('a mean of 0');
  if (rows.some(({ truncated }) => truncated)) labels.push('a truncated row');
  if (rows.some(({ length }) => length > bounds.max_length)) labels.push('a long row');
  if (rows.some(({ reward }) => reward < bounds.min_reward || reward > bounds.max_reward))
    labels.push('a reward out of bounds');
  return labels;
}

const isEqual = (group: readonly FilteredRow[]): boolean =>
  group.every(({ reward }) => reward === group[0]?.reward);
