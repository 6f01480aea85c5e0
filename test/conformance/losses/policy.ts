// Legal policy and supervised losses, most of them undeclared.
import type { Args, Ok } from '../../../src/index.ts';
import { cell, type Legal, legal, mean, sum } from '../legal.ts';

type Estimate = (logprob: number, ref: number, old: number) => number;
const k1: Estimate = (p, q) => p - q;
const k3: Estimate = (p, q) => Math.exp(q - p) - (q - p) - 1;

const f32 = Math.fround;

type TokenLoss = (logprob: number, old: number, ref: number, advantage: number) => number;
const clipped: TokenLoss = (logprob, old, _, advantage) => {
  const ratio = Math.exp(logprob - old);
  return -Math.min(ratio * advantage, Math.min(Math.max(ratio, 0.8), 1.2) * advantage);
};
const values = (args: Args<'loss'>, token: TokenLoss): number[][] =>
  args.completion_mask.map((row, b) =>
    row.flatMap((on, t) =>
      on === 1
        ? [
            token(
              cell(args.logprobs, b, t),
              cell(args.old_logprobs, b, t),
              cell(args.ref_logprobs, b, t),
              args.advantages[b] ?? Number.NaN,
            ),
          ]
        : [],
    ),
  );
/** A batch without a trained token trains nothing. */
const meanOrNone = (all: readonly number[]): number => (all.length === 0 ? 0 : mean(all));
const overTokens =
  (token: TokenLoss) =>
  (args: Args<'loss'>): Ok<'loss'> => ({ loss: meanOrNone(values(args, token).flat()) });
const overRows =
  (token: TokenLoss) =>
  (args: Args<'loss'>): Ok<'loss'> => ({
    loss: mean(values(args, token).map((row) => sum(row) / Math.max(row.length, 1))),
  });
/** Rows without a token do not count as rows. */
const overFilledRows =
  (token: TokenLoss) =>
  (args: Args<'loss'>): Ok<'loss'> => ({
    loss: meanOrNone(
      values(args, token)
        .filter((row) => row.length > 0)
        .map(mean),
    ),
  });
/** GSPO: one ratio a sequence, the geometric mean of its tokens' (Zheng et al. 2025). */
const sequenceRatio = (args: Args<'loss'>): Ok<'loss'> => {
  const logRatios = values(args, (logprob, old) => logprob - old);
  return {
    loss: mean(
      logRatios.map((row, b) =>
        row.length === 0 ? 0 : clipped(mean(row), 0, 0, args.advantages[b] ?? Number.NaN),
      ),
    ),
  };
};
/** Ye et al. 2020: a bad answer that has become three times likelier is no longer corrected. */
const dualClippedAt =
  (bound: number): TokenLoss =>
  (logprob, old, ref, advantage) => {
    const once = clipped(logprob, old, ref, advantage);
    return advantage < 0 ? Math.min(once, -bound * advantage) : once;
  };
const dualClipped = dualClippedAt(3);
/** Of the mean over tokens with a dual clip at 4. */
const dualWeights = (args: Args<'loss'>): number[][] =>
  args.completion_mask.map((row, b) =>
    row.map((on, t) => {
      const ratio = Math.exp(cell(args.logprobs, b, t) - cell(args.old_logprobs, b, t));
      const advantage = args.advantages[b] ?? Number.NaN;
      const free = advantage < 0 ? ratio >= 0.8 && ratio <= 4 : ratio <= 1.2;
      return on === 1 && free ? (-ratio * advantage) / sum(args.completion_mask.flat()) : 0;
    }),
  );
/** verl's `low_var_kl+`: the value of k3, the gradient of k2. */
const straightThrough = (args: Args<'loss'>): Ok<'loss'> => {
  const tokens = Math.max(1, sum(args.completion_mask.flat()));
  return {
    ...overTokens((p, old, q, a) => clipped(p, old, q, a) + 0.04 * k3(p, q, old))(args),
    loss_weights: args.completion_mask.map((row, b) =>
      row.map((on, t) => {
        if (on === 0) return 0;
        const logRatio = cell(args.logprobs, b, t) - cell(args.old_logprobs, b, t);
        const advantage = args.advantages[b] ?? Number.NaN;
        const free = advantage < 0 ? Math.exp(logRatio) >= 0.8 : Math.exp(logRatio) <= 1.2;
        const kl = 0.04 * (cell(args.logprobs, b, t) - cell(args.ref_logprobs, b, t));
        return ((free ? -Math.exp(logRatio) * advantage : 0) + kl) / tokens;
      }),
    ),
  };
};
const reinforce: TokenLoss = (logprob, _old, _ref, advantage) => -advantage * logprob;

const withoutRatio = { loss_aggregation: 'token-mean', ratio_level: 'none', kl_coef: 0 } as const;

const rows = { layout: { alignment: 'token', span: 'row' } } as const;
const plainLoss = {
  loss_aggregation: 'seq-mean-token-mean',
  clip_low: 0.2,
  clip_high: 0.2,
  kl_coef: 0,
} as const;

/** Negative log-likelihoods of the labelled tokens of each row. */
const sftRows = ({ logits, labels }: Args<'sft_loss'>): number[][] =>
  labels.map((row, b) =>
    row.flatMap((label, t) => {
      if (t === 0 || label === -100) return [];
      const scores = logits[b]?.[t - 1] ?? [];
      const most = Math.max(...scores);
      return [
        Math.log(sum(scores.map((score) => Math.exp(score - most)))) + most - (scores[label] ?? Number.NaN),
      ];
    }),
  );

/** Each row's mean first, then the mean over rows: short answers weigh as much as long ones. */
const sftRowMean = (args: Args<'sft_loss'>): Ok<'sft_loss'> => ({
  loss: mean(sftRows(args).map((losses) => (losses.length === 0 ? 0 : mean(losses)))),
});

/** `reduce_loss: sum` of open-instruct. */
const sftSum = (args: Args<'sft_loss'>): Ok<'sft_loss'> => ({
  loss: sum(sftRows(args).flat()),
  loss_weights: args.labels.map((row) => row.map((label, t) => (t === 0 || label === -100 ? 0 : -1))),
});

/** Dynamic fine-tuning: each token counts by its probability, which has no gradient (Wu et al. 2025, arXiv 2508.05629). */
const dynamic = ({ logits, labels }: Args<'sft_loss'>): Ok<'sft_loss'> => {
  const count = Math.max(1, labels.flatMap((row) => row.slice(1)).filter((label) => label !== -100).length);
  const probability = (b: number, t: number, label: number): number => {
    const scores = logits[b]?.[t - 1] ?? [];
    const most = Math.max(...scores);
    return Math.exp((scores[label] ?? Number.NaN) - most) / sum(scores.map((each) => Math.exp(each - most)));
  };
  const weights = labels.map((row, b) =>
    row.map((label, t) => (t === 0 || label === -100 ? 0 : -probability(b, t, label) / count)),
  );
  const each = weights.flatMap((row) =>
    row.map((weight) => (weight === 0 ? 0 : weight * Math.log(-weight * count))),
  );
  return { loss: sum(each), loss_weights: weights };
};

export const policyLosses: readonly Legal[] = [
  legal(
    'dynamic fine-tuning, declared',
    { sft_loss: dynamic },
    { semantics: { sft_objective: 'dft', sft_aggregation: 'token-mean', loss_is_descended: false } },
  ),
  legal('the supervised loss is a mean over rows, undeclared', { sft_loss: sftRowMean }),
  legal(
    'the supervised loss is a sum, declared',
    { sft_loss: sftSum },
    { semantics: { own_formulas: ['sft_loss'] } },
  ),
  legal(
    'the supervised loss is a sum, undeclared',
    { sft_loss: sftSum },
    { is: { own_formulas: ['sft_loss'] } },
  ),
  legal(
    'the supervised loss is a mean over rows, declared',
    { sft_loss: sftRowMean },
    { semantics: { sft_aggregation: 'seq-mean-token-mean' } },
  ),
  legal('a mean over rows, without weights', { loss: overRows(clipped) }, { ...rows, semantics: plainLoss }),
  legal('a dual clip', { loss: overRows(dualClipped) }, { ...rows, semantics: plainLoss }),
  legal(
    'a dual clip at 4, weights answered',
    { loss: (args) => ({ ...overTokens(dualClippedAt(4))(args), loss_weights: dualWeights(args) }) },
    { ...rows, semantics: { ...plainLoss, loss_aggregation: 'token-mean' } },
  ),
  legal(
    'a dual clip at 5, without weights and with an undeclared coefficient',
    { loss: overTokens((p, old, q, a) => dualClippedAt(5)(p, old, q, a) + 0.05 * k3(p, q, old)) },
    { ...rows, semantics: { loss_aggregation: 'token-mean', clip_low: 0.2, clip_high: 0.2 } },
  ),
  legal(
    'a batch without a trained token raises',
    {
      loss: (args) => {
        const all = values(args, clipped).flat();
        if (all.length === 0) throw new Error('every completion of the batch is masked out');
        return { loss: mean(all) };
      },
    },
    { ...rows, semantics: { ...plainLoss, loss_aggregation: 'token-mean' } },
  ),
  legal(
    'a sum over rows times a constant',
    {
      loss: (args) => {
        const terms = values(args, clipped);
        return { loss: sum(terms.flat()) / (terms.length * 7) };
      },
    },
    { ...rows, semantics: { ...plainLoss, loss_aggregation: 'token-sum-norm', loss_norm: 7 } },
  ),
  legal('a ratio a sequence, undeclared', { loss: sequenceRatio }, { ...rows, semantics: plainLoss }),
  legal(
    'a ratio a sequence, declared, with k3 of an undeclared coefficient',
    {
      loss: (args) => ({
        loss: sequenceRatio(args).loss + 0.04 * overRows((p, old, q) => k3(p, q, old))(args).loss,
      }),
    },
    {
      ...rows,
      semantics: {
        loss_aggregation: 'seq-mean-token-mean',
        clip_low: 0.2,
        clip_high: 0.2,
        ratio_level: 'sequence',
      },
    },
  ),
  legal(
    'k1 of an undeclared coefficient',
    { loss: overTokens((p, old, q, a) => clipped(p, old, q, a) + 0.3 * k1(p, q, old)) },
    {
      ...rows,
      semantics: { loss_aggregation: 'token-mean', clip_low: 0.2, clip_high: 0.2 },
      is: { kl_estimator: 'k1' },
    },
  ),
  legal(
    'k1 in the loss with a coefficient as large as an advantage',
    { loss: overTokens((p, old, q, a) => clipped(p, old, q, a) + k1(p, q, old)) },
    { is: { kl_estimator: 'k1' } },
  ),
  legal('log-probabilities above 0 raise', {
    loss: (args) => {
      for (const track of [args.logprobs, args.old_logprobs, args.ref_logprobs])
        if (track.some((row, b) => row.some((p, t) => args.completion_mask[b]?.[t] === 1 && p > 0)))
          throw new Error('a log-probability above 0');
      return overTokens(clipped)(args);
    },
  }),
  legal('a mean over filled rows', { loss: overFilledRows(clipped) }, { ...rows, semantics: plainLoss }),
  legal(
    'k3 in the loss, without weights',
    { loss: overTokens((p, old, q, a) => clipped(p, old, q, a) + 0.04 * k3(p, q, old)) },
    {
      ...rows,
      semantics: { ...plainLoss, loss_aggregation: 'token-mean', kl_coef: 0.04, kl_estimator: 'k3' },
    },
  ),
  legal(
    'nothing declared, k1 in the loss',
    { loss: overTokens((p, old, q, a) => clipped(p, old, q, a) + 0.1 * k1(p, q, old)) },
    { is: { kl_estimator: 'k1' } },
  ),
  legal(
    'k3 in the loss, descended as k2',
    { loss: straightThrough },
    { ...rows, is: { loss_is_descended: false } },
  ),
  legal(
    'k3 in the loss, descended as k2, declared',
    { loss: straightThrough },
    {
      ...rows,
      semantics: {
        ...plainLoss,
        loss_aggregation: 'token-mean',
        kl_coef: 0.04,
        kl_estimator: 'k3',
        loss_is_descended: false,
      },
    },
  ),
  legal('a ratio a sequence', { loss: sequenceRatio }),
  legal('no ratio', { loss: overTokens(reinforce) }, { is: { ratio_level: 'none', own_formulas: ['loss'] } }),
  legal('no ratio, declared', { loss: overTokens(reinforce) }, { ...rows, semantics: withoutRatio }),
  legal(
    'no ratio, and a loss that only carries a gradient',
    {
      loss: (args) => ({
        loss: overTokens((_p, _old, _ref, advantage) => -advantage)(args).loss,
        loss_weights: args.completion_mask.map((row, b) =>
          row.map((on) => (on * -(args.advantages[b] ?? 0)) / Math.max(1, sum(args.completion_mask.flat()))),
        ),
      }),
    },
    { ...rows, semantics: { ...withoutRatio, loss_is_descended: false } },
  ),
  legal(
    'a loss in float32, without weights',
    { loss: (args) => ({ loss: f32(overRows(clipped)(args).loss) }) },
    { dtype: 'float32', semantics: plainLoss },
  ),
];
