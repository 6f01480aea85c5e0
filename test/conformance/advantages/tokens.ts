// Legal ways to hand out rewards, to estimate advantages, to whiten and to clip them.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { cell, type Legal, legal, type Rows, repeat, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

const at = (values: readonly number[], index: number): number => values[index] ?? Number.NaN;
const mapped = (rows: Rows, map: (value: number, row: number, column: number) => number): number[][] =>
  rows.map((row, b) => row.map((value, t) => map(value, b, t)));

/** The score at the slot behind the answer, where there is one; KL wherever the mask is 1. */
export const slotBehind = (args: Args<'token_rewards'>): Ok<'token_rewards'> => ({
  rewards: mapped(args.kl, (kl, b, t) => {
    const mask = args.completion_mask[b] ?? [];
    const last = mask.lastIndexOf(1);
    const slot = Math.min(last + 1, mask.length - 1);
    const penalty = mask[t] === 1 ? args.kl_coef * kl : 0;
    return (last >= 0 && t === slot ? at(args.scores, b) : 0) - penalty;
  }),
});

/** No mask but for the place of the score: what stands under a 0 is for the recursion to mask. */
const unmaskedKl = (args: Args<'token_rewards'>): Ok<'token_rewards'> => ({
  rewards: mapped(args.kl, (kl, b, t) => {
    const mask = args.completion_mask[b] ?? [];
    // Of a row without a trained token, the last column.
    const last = mask.includes(1) ? mask.lastIndexOf(1) : mask.length - 1;
    return (t === last ? at(args.scores, b) : 0) - args.kl_coef * kl;
  }),
});

const nanOutside = (args: Args<'token_rewards'>): Ok<'token_rewards'> => ({
  rewards: mapped(unmaskedKl(args).rewards, (value, b, t) =>
    args.completion_mask[b]?.[t] === 1 ? value + cell(args.process_rewards, b, t) : Number.NaN,
  ),
});

/** KL is in the loss: a reward that should carry it is refused. */
const withoutKl = (args: Args<'token_rewards'>): Ok<'token_rewards'> =>
  args.kl_coef === 0 ? unmaskedKl(args) : reject('KL is part of the loss');

/** One backward pass over all columns that carries value and advantage across masked ones. */
function carried(
  args: Args<'gae'>,
  round = (value: number): number => value,
  bootstrapped = false,
): number[][] {
  return args.completion_mask.map((mask, b) => {
    const row = repeat(0, mask.length);
    const behind = mask.lastIndexOf(1) + 1;
    let [nextValue, nextAdvantage] = [bootstrapped && behind > 0 ? (args.values[b]?.[behind] ?? 0) : 0, 0];
    for (let t = mask.length - 1; t >= 0; t--) {
      if (mask[t] !== 1) continue;
      const delta = round(cell(args.rewards, b, t) + args.gamma * nextValue - cell(args.values, b, t));
      nextAdvantage = round(delta + args.gamma * args.lam * nextAdvantage);
      nextValue = cell(args.values, b, t);
      row[t] = nextAdvantage;
    }
    return row;
  });
}

/** One backward pass over the trained columns. */
export const returns =
  (round = (value: number): number => value, outside = 0) =>
  (args: Args<'returns'>): Ok<'returns'> => ({
    returns: args.completion_mask.map((mask, b) => {
      let toCome = 0;
      return mask
        .map((on, t) => (on === 1 ? t : -1))
        .toReversed()
        .map((t) => {
          if (t < 0) return outside;
          toCome = round(cell(args.rewards, b, t) + round(args.gamma * toCome));
          return toCome;
        })
        .toReversed();
    }),
  });

/** Each turn is an episode with a reward of its own. */
const returnsOfTurns = (args: Args<'returns'>): Ok<'returns'> => ({
  returns: args.completion_mask.map((mask, b) =>
    mask.map((_, from) => {
      let total = 0;
      for (let t = from; mask[t] === 1; t++) total += args.gamma ** (t - from) * cell(args.rewards, b, t);
      return total;
    }),
  ),
});

interface Whitening {
  readonly mean?: 'zero' | 'scaled' | 'kept';
  readonly ddof?: 0 | 1;
  /** The divisor of a variance. */
  readonly divisor?: (variance: number) => number;
  readonly outside?: number;
  readonly round?: (value: number) => number;
}

function whitenRows(values: Rows, mask: Rows, options: Whitening = {}): number[][] {
  const { mean: kind = 'zero', ddof = 1, outside = 0, round = (value: number): number => value } = options;
  const divisor = options.divisor ?? ((variance: number): number => Math.sqrt(variance + 1e-8));
  const counted = values.flatMap((row, b) => row.filter((_, t) => mask[b]?.[t] === 1));
  const mean = round(sum(counted) / counted.length);
  const variance = round(
    sum(counted.map((value) => (value - mean) ** 2)) / Math.max(1, counted.length - ddof),
  );
  const by = round(divisor(variance));
  const centre = { zero: 0, scaled: mean / by, kept: mean }[kind];
  return mapped(values, (value, b, t) =>
    mask[b]?.[t] === 1 ? round((value - mean) / by + centre) : outside,
  );
}

export const gae =
  (whitening?: Whitening) =>
  (args: Args<'gae'>): Ok<'gae'> => {
    const rows = carried(args, whitening?.round);
    const advantages = whitening === undefined ? rows : whitenRows(rows, args.completion_mask, whitening);
    return { advantages, returns: mapped(rows, (value, b, t) => value + cell(args.values, b, t)) };
  };

export const whiten =
  (options: Whitening = {}) =>
  (args: Args<'whiten'>): Ok<'whiten'> => ({
    values: whitenRows(args.values, args.completion_mask, options),
  });

/** As verl's masked_var does it. */
const refusesFew = (args: Args<'whiten'>): Ok<'whiten'> => {
  if (sum(args.completion_mask.flat()) < 2) throw new RangeError('the sum of the mask is below two');
  return whiten()(args);
};

const float32 = { dtype: 'float32' } as const;

const clip = ({ advantages, limit }: Args<'clip_advantages'>): Ok<'clip_advantages'> => ({
  advantages: advantages.map((value) => Math.min(Math.max(value, -limit), limit)),
});

export const tokenAdvantages: readonly Legal[] = [
  legal('the score stands behind the answer', { token_rewards: slotBehind }),
  legal(
    'the score stands behind the answer, predictor-aligned',
    { token_rewards: slotBehind },
    { layout: { alignment: 'predictor', span: 'row' } },
  ),
  legal('KL under the mask is left in the rewards', { token_rewards: unmaskedKl }),
  legal(
    'rewards outside the completion are NaN',
    { token_rewards: nanOutside },
    { can: { token_rewards: { process_rewards: true } }, layout: { alignment: 'token', span: 'completion' } },
  ),
  legal('KL in the reward is refused', {
    token_rewards: withoutKl,
  }),
  legal('advantages are not whitened', { gae: gae() }),
  legal(
    'rows are bootstrapped from the slot behind them, declared',
    { gae: (args) => ({ advantages: carried(args, undefined, true) }) },
    { semantics: { gae_bootstrap: true } },
  ),
  legal(
    'rewards become deltas in place, declared',
    {
      gae: (args) => {
        const advantages = carried(args);
        for (const [b, row] of (args.rewards as number[][]).entries())
          for (const t of row.keys()) row[t] = cell(args.rewards, b, t) - cell(args.values, b, t);
        return { advantages };
      },
    },
    { semantics: { in_place: ['gae'] } },
  ),
  legal('no returns are answered', { gae: (args) => ({ advantages: carried(args) }) }),
  legal('advantages are whitened, undeclared', { gae: gae({}) }),
  legal('advantages are whitened in float32, ddof 0', { gae: gae({ ddof: 0, round: Math.fround }) }, float32),
  legal(
    'advantages are only scaled',
    { gae: gae({ mean: 'scaled', ddof: 0 }) },
    {
      semantics: { whiten_mean: false, whiten_ddof: 0 },
    },
  ),
  legal('returns carried over gaps', { returns: returns() }),
  legal('returns of each turn', { returns: returnsOfTurns }, { is: { turns_are_episodes: true } }),
  legal(
    'returns of each turn, declared',
    { returns: returnsOfTurns },
    { semantics: { turns_are_episodes: true, single_turn: false } },
  ),
  legal(
    'returns in float32, NaN at what is not trained',
    { returns: returns(Math.fround, Number.NaN) },
    float32,
  ),
  legal(
    'returns, predictor-aligned',
    { returns: returns() },
    { layout: { alignment: 'predictor', span: 'row' } },
  ),
  legal('whitened with ddof 1', { whiten: whiten() }),
  legal('whitened with ddof 0, in float32', { whiten: whiten({ ddof: 0, round: Math.fround }) }, float32),
  // The whole function is cast, in a trainer that computes everything else in float32 (Open-Reasoner-Zero).
  ...([0, 1] as const).map((ddof) =>
    legal(
      `whitened in bfloat16, ddof ${ddof}, in a trainer of float32`,
      {
        whiten: (args) =>
          whiten({ ddof, round: b16 })({ ...args, values: mapped(args.values, (value) => b16(value)) }),
      },
      float32,
    ),
  ),
  legal(
    'whitened, and the result kept in bfloat16, in a trainer of float32',
    { whiten: (args) => ({ values: mapped(whiten()(args).values, (value) => b16(value)) }) },
    float32,
  ),
  legal('whitened around the mean, which stays', { whiten: whiten({ mean: 'kept' }) }),
  legal(
    'the mean stays, declared',
    { whiten: whiten({ mean: 'kept' }) },
    { semantics: { whiten_mean: false } },
  ),
  legal('only divided by the deviation', { whiten: whiten({ mean: 'scaled' }) }),
  legal('an epsilon beside the deviation', {
    whiten: whiten({ divisor: (variance) => Math.sqrt(variance) + 1e-5 }),
  }),
  legal('the variance is clamped', {
    whiten: whiten({
      ddof: 0,
      divisor: (variance) => Math.sqrt(Math.max(variance, 1e-8)),
      outside: Number.NaN,
    }),
  }),
  legal('a batch of one token is refused by an exception', { whiten: refusesFew }),
  legal('clipped', { clip_advantages: clip }),
  legal('NaN is refused', {
    clip_advantages: (args) =>
      args.advantages.some(Number.isNaN) ? reject('an advantage is NaN') : clip(args),
  }),
];
