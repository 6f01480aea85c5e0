// Cases of a critic's numbers: rewards of tokens, values and rewards for advantage estimation, rewards for returns, numbers to
// be whitened, advantages to be clipped.
import fc from 'fast-check';
import { type GapOptions, type Gapped, gapLabels, gapped, inSteps, trainedTokens } from '../losses/gaps.ts';
import { MANY_ROWS, MOST_ROWS, rarely, timesOver } from '../rarely.ts';

export interface RewardCase extends Gapped<'process' | 'kl', 'score'> {
  readonly klCoef: number;
}
export interface GaeCase extends Gapped<'reward' | 'value'> {
  readonly gamma: number;
  readonly lam: number;
}
export interface ReturnsCase extends Gapped<'reward'> {
  readonly gamma: number;
}
export type WhitenCase = Gapped<'value', 'rank'>;
export interface ClipCase {
  readonly advantages: readonly number[];
  readonly limit: number;
}

/** Scores are clipped to ±5 by some and ±10 by others before they are handed out; these none clips. */
const HIGHEST_SCORE = 3;
/** float16 holds what these sum to, and bfloat16 tells them apart. */
const GRAIN = 16;
const RANKS = 3;
/** 0 passes for `not set`. */
const GAMMA = fc.constantFrom(1, 0.5, 0.75, 0.9375, 0);
const MAX_ADVANTAGES = 5;
/** One batch in so many has rows of so many times the tokens: longer than a scan that is cut into windows. */
const LONG_ONE_IN = 5;
const TIMES = 5;
/** And some of these of so many: longer than the chunks of a scan, and than float32 holds powers of 1/2 for. */
const LONGEST_ONE_IN = 2;
const MOST_TIMES = 60;
/** One batch in so many has one value only. */
const EQUAL_ONE_IN = 4;
/** In one of so many long ones, each row begins with a value so far out that its distance is several deviations. */
const FAR_ONE_IN = 5;
const FAR = 48;

/** An arbitrary batch for op `token_rewards`: scores a row, KL and process rewards a token, and a coefficient. */
export function rewardCase(
  options: GapOptions & { readonly processRewards: boolean },
): fc.Arbitrary<RewardCase> {
  const token = {
    process: options.processRewards ? inSteps(-1, 1, 4) : fc.constant(0),
    kl: inSteps(-1, 2, GRAIN),
  };
  return fc
    .record({
      drawn: gapped(token, { score: inSteps(-HIGHEST_SCORE, HIGHEST_SCORE, 4) }, options),
      klCoef: fc.constantFrom(0.5, 0.125, 0.25, 0),
    })
    .map(({ drawn, klCoef }) => ({ ...drawn, klCoef }));
}

/** Two trained tokens at least: a trainer may whiten its advantages, and one has no deviation. */
export function gaeCase(options: GapOptions = {}): fc.Arbitrary<GaeCase> {
  return fc
    .record({
      drawn: gapped(
        { reward: inSteps(-2, 2, 4), value: inSteps(-2, 2, GRAIN) },
        {},
        { minTrained: 2, ...options },
      ),
      gamma: GAMMA,
      lam: fc.constantFrom(1, 0.5, 0.75, 0),
      times: lengths(),
      large: rarely(LONG_ONE_IN),
    })
    .map(({ drawn: { rows }, gamma, lam, times, large }) => {
      const some = large ? rows.map((row) => scaled(row, 'reward', 'value')) : rows;
      return { rows: some.map((row) => goneOn(row, times)), gamma, lam };
    });
}

/** An arbitrary batch for op `returns`: a reward per token. */
export function returnsCase(options: GapOptions = {}): fc.Arbitrary<ReturnsCase> {
  return fc
    .record({
      drawn: gapped({ reward: inSteps(-2, 2, 4) }, {}, options),
      gamma: GAMMA,
      times: lengths(),
      large: rarely(LONG_ONE_IN),
    })
    .map(({ drawn: { rows }, gamma, times, large }) => {
      const some = large ? rows.map((row) => scaled(row, 'reward')) : rows;
      return { rows: some.map((row) => goneOn(row, times)), gamma };
    });
}

/** An arbitrary batch for op `whiten`: numbers a token, and for each row the rank that holds it. */
export function whitenCase(options: GapOptions = {}): fc.Arbitrary<WhitenCase> {
  return fc
    .record({
      drawn: gapped(
        { value: inSteps(-3, 3, GRAIN) },
        { rank: fc.nat(RANKS - 1) },
        { gaps: true, ...options },
      ),
      equal: rarely(EQUAL_ONE_IN),
      far: rarely(FAR_ONE_IN),
    })
    .map(({ drawn: { rows }, equal, far }) => ({
      rows: equal ? rows.map(allAlike) : far ? rows.map((row) => withFar(goneOn(row, TIMES))) : rows,
    }));
}

/** The same, the rows of some batches over and over, until they are more than trainers work through in one go. */
export function largeWhitenCase(options: GapOptions & { readonly half: boolean }): fc.Arbitrary<WhitenCase> {
  // The moments of the largest batch are none in half precision.
  const rows = fc.constantFrom(...OFTEN_SMALL, MANY_ROWS, options.half ? MANY_ROWS : MOST_ROWS);
  return fc.tuple(whitenCase(options), rows).map(([drawn, most]) => ({
    rows: [...drawn.rows, ...timesOver(drawn.rows, most).slice(drawn.rows.length, most)],
  }));
}

/** Most batches stay as they are. */
const OFTEN_SMALL = [0, 0, 0, 0];

/** The same with one trained token in the whole batch, the first. */
export function oneTokenCase(): fc.Arbitrary<WhitenCase> {
  return whitenCase().map(({ rows }) => {
    let found = false;
    const first = (trained: boolean): boolean => {
      const keep = trained && !found;
      found ||= keep;
      return keep;
    };
    return {
      rows: rows.map((row) => ({
        ...row,
        tokens: row.tokens.map((token) => ({ ...token, trained: first(token.trained) })),
      })),
    };
  });
}

/** The tokens of a row over and over. */
const goneOn = <Row extends { readonly tokens: readonly unknown[] }>(row: Row, times: number): Row => ({
  ...row,
  tokens: timesOver(row.tokens, times),
});

/** How often the tokens of each row of a batch are there. */
const lengths = (): fc.Arbitrary<number> =>
  fc
    .tuple(rarely(LONG_ONE_IN), rarely(LONGEST_ONE_IN))
    .map(([long, longest]) => (long ? (longest ? MOST_TIMES : TIMES) : 1));

/** Numbers of a task that counts in tens: beyond the clips that are in use. */
const LARGE = 8;

const scaled = <F extends string, Row extends { readonly tokens: readonly { readonly [K in F]: number }[] }>(
  row: Row,
  ...fields: readonly F[]
): Row => ({
  ...row,
  tokens: row.tokens.map((token) => ({
    ...token,
    ...Object.fromEntries(fields.map((field) => [field, LARGE * token[field]])),
  })),
});

const withFar = (row: WhitenCase['rows'][number]): WhitenCase['rows'][number] => ({
  ...row,
  tokens: row.tokens.map((token, at) => (at === 0 ? { ...token, value: FAR } : token)),
});

/** Every value that counts is 1; what is masked keeps its own. */
const allAlike = (row: WhitenCase['rows'][number]): WhitenCase['rows'][number] => ({
  ...row,
  tokens: row.tokens.map((token) => (token.trained ? { ...token, value: 1 } : token)),
});

/** Advantages inside the limit, on it, and beyond. */
export function clipCase(): fc.Arbitrary<ClipCase> {
  return fc.constantFrom(5, 1, 2.5, 0.5, 10).chain((limit) =>
    fc.record({
      advantages: fc.array(
        fc.oneof(
          inSteps(-1, 1, 8).map((part) => part * limit),
          fc.constantFrom(limit, -limit, 20 * limit, -20 * limit, 0),
          inSteps(-8, 8, 4),
        ),
        { minLength: 1, maxLength: MAX_ADVANTAGES, size: 'max' },
      ),
      limit: fc.constant(limit),
    }),
  );
}

/** What a case of `token_rewards` exercises. */
export function rewardLabels(drawn: RewardCase): string[] {
  const labels = gapLabels(drawn);
  if (drawn.klCoef === 0) labels.push('no KL in the reward');
  if (drawn.rows.some(({ tokens }) => tokens.some(({ process }) => process !== 0)))
    labels.push('process rewards');
  return labels;
}

/** What a case of `gae` exercises. */
export function gaeLabels(drawn: GaeCase): string[] {
  const labels = gapLabels(drawn);
  if (drawn.gamma < 1) labels.push('gamma below 1');
  if (drawn.lam > 0 && drawn.lam < 1) labels.push('lambda between 0 and 1');
  if (drawn.lam === 0) labels.push('lambda 0');
  if (drawn.lam === 1) labels.push('lambda 1');
  return labels;
}

/** What a case of `returns` exercises. */
export function returnsLabels(drawn: ReturnsCase): string[] {
  const labels = gapLabels(drawn);
  if (drawn.gamma < 1) labels.push('gamma below 1');
  return labels;
}

/** What a case of `whiten` exercises. */
export function whitenLabels(drawn: WhitenCase): string[] {
  const labels = gapLabels(drawn);
  const values = new Set(
    drawn.rows.flatMap(({ tokens }) => tokens.flatMap(({ trained, value }) => (trained ? [value] : []))),
  );
  if (values.size === 1 && trainedTokens(drawn) > 1) labels.push('equal values');
  if (new Set(drawn.rows.map(({ rank }) => rank)).size > 1) labels.push('several ranks');
  if (drawn.rows.length >= MANY_ROWS) labels.push('many rows');
  return labels;
}

/** What a case of `clip_advantages` exercises. */
export function clipLabels({ advantages, limit }: ClipCase): string[] {
  const labels: string[] = [];
  if (advantages.some((value) => Math.abs(value) < limit)) labels.push('inside the limit');
  if (advantages.some((value) => Math.abs(value) === limit)) labels.push('on the limit');
  if (advantages.some((value) => Math.abs(value) > limit)) labels.push('beyond the limit');
  return labels;
}
