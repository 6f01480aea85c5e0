// Legal KL estimates, advantages, losses and log-probabilities, most of them undeclared.
import type { Args, Ok } from '../../../src/index.ts';
import { cell, type Legal, legal, mean, type Rows, sum } from './trainer.ts';

type Estimate = (logprob: number, ref: number, old: number) => number;

const perToken = (args: Args<'kl'>, estimate: Estimate): number[][] =>
  args.completion_mask.map((row, b) =>
    row.map((on, t) =>
      on === 1
        ? estimate(cell(args.logprobs, b, t), cell(args.ref_logprobs, b, t), cell(args.old_logprobs, b, t))
        : 0,
    ),
  );
const kl =
  (estimate: Estimate) =>
  (args: Args<'kl'>): Ok<'kl'> => ({ kl: perToken(args, estimate) });
const tokenMean =
  (estimate: Estimate) =>
  (args: Args<'kl'>): Ok<'kl'> => ({
    mean_kl: sum(perToken(args, estimate).flat()) / sum(args.completion_mask.flat()),
  });
/** The mean over rows of each row's mean, a row without tokens counting 0: what TRL logged at first. */
const rowMean =
  (estimate: Estimate) =>
  (args: Args<'kl'>): Ok<'kl'> => ({
    mean_kl: mean(
      perToken(args, estimate).map((row, b) => sum(row) / Math.max(sum(args.completion_mask[b] ?? []), 1)),
    ),
  });
const k1: Estimate = (p, q) => p - q;
const k2: Estimate = (p, q) => (p - q) ** 2 / 2;
const k3: Estimate = (p, q) => Math.exp(q - p) - (q - p) - 1;
const within = (bound: number, value: number): number => Math.min(Math.max(value, -bound), bound);

const deviation = (values: readonly number[], ddof: number): number =>
  Math.sqrt(sum(values.map((value) => (value - mean(values)) ** 2)) / (values.length - ddof));
const groupOf = ({ rewards, group_ids: ids }: Args<'advantages'>, row: number): number[] =>
  rewards.filter((_, other) => ids[other] === ids[row]);
const advantages =
  (scale: (group: readonly number[], all: readonly number[]) => number) =>
  (args: Args<'advantages'>): Ok<'advantages'> => ({
    advantages: args.rewards.map((reward, row) => {
      const group = groupOf(args, row);
      return (reward - mean(group)) / scale(group, args.rewards);
    }),
  });

/** Against the mean of the group's other rows (Ahmadian et al. 2024). */
const leaveOneOut = (args: Args<'advantages'>): Ok<'advantages'> => ({
  advantages: args.rewards.map((reward, row) => {
    const others = args.group_ids.flatMap((id, other) =>
      id === args.group_ids[row] && other !== row ? [args.rewards[other] ?? Number.NaN] : [],
    );
    return reward - mean(others);
  }),
});
/** The group's mean goes first, and what is left is divided by the batch's deviation of it. */
const overCentredBatch = (args: Args<'advantages'>): Ok<'advantages'> => {
  const centred = args.rewards.map((reward, row) => reward - mean(groupOf(args, row)));
  return { advantages: centred.map((value) => value / (deviation(centred, 1) + 1e-8)) };
};
const oddEpsilon = advantages((group) => deviation(group, 1) + 0.0375);

const f32 = Math.fround;
const rounded = (rows: Rows): number[][] => rows.map((row) => row.map(f32));
const mean32 = (values: readonly number[]): number =>
  f32(values.reduce((total, value) => f32(total + value), 0) / values.length);
/** As tensors of float32 do it, with the rounding of every step, and no word about equal rewards (verl's GRPO). */
const advantages32 = (args: Args<'advantages'>): Ok<'advantages'> => ({
  advantages: args.rewards.map((reward, row) => {
    const group = groupOf(args, row).map(f32);
    const centre = mean32(group);
    const squares = group.map((value) => f32(f32(value - centre) ** 2));
    const variance = f32((mean32(squares) * group.length) / (group.length - 1));
    return f32(f32(f32(reward) - centre) / f32(f32(Math.sqrt(variance)) + f32(1e-6)));
  }),
});

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
const overTokens =
  (token: TokenLoss) =>
  (args: Args<'loss'>): Ok<'loss'> => ({ loss: mean(values(args, token).flat()) });
const overRows =
  (token: TokenLoss) =>
  (args: Args<'loss'>): Ok<'loss'> => ({
    loss: mean(values(args, token).map((row) => sum(row) / Math.max(row.length, 1))),
  });
/** Rows without a token do not count as rows. */
const overFilledRows =
  (token: TokenLoss) =>
  (args: Args<'loss'>): Ok<'loss'> => ({
    loss: mean(
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
const reinforce: TokenLoss = (logprob, _old, _ref, advantage) => -advantage * logprob;

const scored = ({ input_ids, logits }: Args<'logprobs'>, temperature: number): number[][] =>
  input_ids.map((ids, b) =>
    ids.map((id, t) => {
      // Nothing predicts the first token: whatever stands there is nobody's business.
      if (t === 0) return Number.NaN;
      const row = (logits[b]?.[t - 1] ?? []).map((logit) => logit / temperature);
      const top = Math.max(...row);
      return (row[id] ?? Number.NaN) - top - Math.log(sum(row.map((logit) => Math.exp(logit - top))));
    }),
  );

const rows = { layout: { alignment: 'token', span: 'row' } } as const;
const plainLoss = {
  loss_aggregation: 'seq-mean-token-mean',
  clip_low: 0.2,
  clip_high: 0.2,
  kl_coef: 0,
} as const;

/** Each row's mean first, then the mean over rows: short answers weigh as much as long ones. */
const sftRowMean = ({ logits, labels }: Args<'sft_loss'>): Ok<'sft_loss'> => ({
  loss: mean(
    labels.map((row, b) => {
      const losses = row.flatMap((label, t) => {
        if (t === 0 || label === -100) return [];
        const scores = logits[b]?.[t - 1] ?? [];
        const most = Math.max(...scores);
        return [
          Math.log(sum(scores.map((score) => Math.exp(score - most)))) + most - (scores[label] ?? Number.NaN),
        ];
      });
      return losses.length === 0 ? 0 : mean(losses);
    }),
  ),
});

export const numbers: readonly Legal[] = [
  legal('the supervised loss is a mean over rows, undeclared', { sft_loss: sftRowMean }),
  legal(
    'the supervised loss is a mean over rows, declared',
    { sft_loss: sftRowMean },
    { semantics: { sft_aggregation: 'seq-mean-token-mean' } },
  ),
  legal('k1, undeclared', { kl: kl(k1) }),
  legal('k2, undeclared', { kl: kl(k2) }),
  legal('the absolute difference, undeclared (verl)', { kl: kl((p, q) => Math.abs(p - q)) }),
  legal(
    'the absolute difference, declared, with its mean over rows',
    {
      kl: (args) => ({
        ...kl((p, q) => Math.abs(p - q))(args),
        ...rowMean((p, q) => Math.abs(p - q))(args),
      }),
    },
    { semantics: { kl_estimator: 'abs' } },
  ),
  legal('k3 of a log-ratio within 10, undeclared', { kl: kl((p, q) => k3(0, within(10, q - p), 0)) }),
  legal('k3 within 10, undeclared', { kl: kl((p, q) => within(10, k3(p, q, 0))) }),
  legal('k3 times the ratio, undeclared', { kl: kl((p, q, old) => Math.exp(p - old) * k3(p, q, old)) }),
  legal('mean KL only, over tokens', { kl: tokenMean(k3) }),
  legal('mean KL only, over rows', { kl: rowMean(k3) }),
  legal('KL of completion columns', { kl: kl(k3) }, { layout: { alignment: 'token', span: 'completion' } }),
  legal('advantages over the batch deviation', {
    advantages: advantages((_, all) => deviation(all, 1) + 1e-4),
  }),
  legal('advantages with ddof 0 and 1e-6', { advantages: advantages((group) => deviation(group, 0) + 1e-6) }),
  legal('advantages with 1e-8, without a word for equal rewards', {
    advantages: advantages((group) => deviation(group, 0) + 1e-8),
  }),
  legal('advantages that are not scaled', { advantages: advantages(() => 1) }),
  legal('leave-one-out advantages, not scaled (RLOO)', { advantages: leaveOneOut }),
  legal(
    'leave-one-out advantages, declared',
    { advantages: leaveOneOut },
    { semantics: { advantage_baseline: 'leave-one-out', advantage_scaling: 'none' } },
  ),
  legal('advantages with 1e-6 under the root', {
    advantages: advantages((group) => Math.sqrt(deviation(group, 0) ** 2 + 1e-6)),
  }),
  legal(
    'advantages with 1e-4 under the root, declared',
    { advantages: advantages((group) => Math.sqrt(deviation(group, 1) ** 2 + 1e-4)) },
    {
      semantics: {
        advantage_ddof: 1,
        advantage_epsilon: 1e-4,
        advantage_epsilon_placement: 'variance',
        advantage_scaling: 'group',
      },
    },
  ),
  legal('advantages with 1e-2', { advantages: advantages((group) => deviation(group, 1) + 1e-2) }),
  legal(
    'advantages with an epsilon of its own, in float32',
    { advantages: (args) => ({ advantages: oddEpsilon(args).advantages.map(f32) }) },
    { dtype: 'float32' },
  ),
  legal('advantages over the deviation of the centred batch (REINFORCE++ baseline)', {
    advantages: overCentredBatch,
  }),
  legal(
    'advantages over the deviation of the centred batch, declared',
    { advantages: overCentredBatch },
    {
      semantics: {
        advantage_baseline: 'group-mean',
        advantage_ddof: 1,
        advantage_epsilon: 1e-8,
        advantage_scaling: 'batch',
      },
    },
  ),
  legal(
    'advantages against the mean of the batch, declared',
    {
      advantages: ({ rewards }) => ({
        advantages: rewards.map((reward) => (reward - mean(rewards)) / (deviation(rewards, 1) + 1e-8)),
      }),
    },
    { semantics: { advantage_baseline: 'batch-mean', advantage_scaling: 'batch', advantage_ddof: 1 } },
  ),
  legal(
    'rewards as they are for advantages, declared (REINFORCE)',
    { advantages: ({ rewards }) => ({ advantages: [...rewards] }) },
    { semantics: { advantage_baseline: 'none', advantage_scaling: 'none' } },
  ),
  legal(
    'advantages in float32, without a word for equal rewards',
    { advantages: advantages32 },
    { dtype: 'float32' },
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
    { ...rows, semantics: { loss_aggregation: 'token-mean', clip_low: 0.2, clip_high: 0.2 } },
  ),
  legal('k1 in the loss with a coefficient as large as an advantage', {
    loss: overTokens((p, old, q, a) => clipped(p, old, q, a) + k1(p, q, old)),
  }),
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
  legal('nothing declared, k1 in the loss', {
    loss: overTokens((p, old, q, a) => clipped(p, old, q, a) + 0.1 * k1(p, q, old)),
  }),
  legal('a ratio a sequence', { loss: sequenceRatio }),
  legal('no ratio', { loss: overTokens(reinforce) }),
  legal(
    'a loss in float32, without weights',
    { loss: (args) => ({ loss: f32(overRows(clipped)(args).loss) }) },
    { dtype: 'float32', semantics: plainLoss },
  ),
  legal('log-probabilities with NaN in front', { logprobs: (args) => ({ logprobs: scored(args, 1) }) }),
  legal(
    'log-probabilities in float32, predictor-aligned',
    {
      logprobs: (args) => ({
        logprobs: rounded(scored(args, args.temperature)).map((row) => row.slice(1)),
      }),
    },
    {
      dtype: 'float32',
      layout: { alignment: 'predictor', span: 'row' },
      can: { logprobs: { temperature: true } },
    },
  ),
  legal(
    'KL in float32',
    { kl: (args) => ({ kl: rounded(perToken(args, (p, q) => k3(f32(p), f32(q), 0))) }) },
    { dtype: 'float32', semantics: { kl_estimator: 'k3' } },
  ),
];
