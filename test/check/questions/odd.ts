// Trainers that mean what nobody else does: one for each row of practice that asks. What they answer is theirs to choose, and once
// they have said so, nothing else may be held against them.
import { type Args, type ObjectTrainerSpec, objectTrainer, type Semantics } from '../../../src/index.ts';
import { localSftLoss } from '../../../src/reference/index.ts';
import type { Correct } from '../../conformance/correct.ts';
import { cell, legal, mean, type Rows, sum } from '../../conformance/legal.ts';
import { transformers } from '../../conformance/losses/balance-loss.ts';
import { dpo, each } from '../../conformance/losses/pairs.ts';
import { corrected, ENGINE, perToken } from '../../conformance/losses/sampling-gap.ts';
import {
  CRITIC,
  criticOfLengths,
  klOfLengths,
  lossOfLengths,
  VALUES,
} from '../../conformance/losses/single-turn.ts';
import { clipped, critic } from '../../conformance/losses/value-loss.ts';
import { clamped, k1, k3, type Made, madeSpec } from '../profile/profiled.ts';

const odd = (name: string, spec: ObjectTrainerSpec, is: Semantics): Correct => ({
  name,
  is,
  open: async () => ({ trainer: objectTrainer(spec), tokenizer: undefined }),
});
/** With the ops that show it alone: a loss without weights costs two questions per token. */
function policy(name: string, how: Made, is: Semantics): Correct {
  const { hello, ops } = madeSpec(how);
  const { advantages: _, ...others } = hello.ops;
  const isOfAdvantages = Object.keys(is).every((item) => item.startsWith('advantage'));
  return odd(name, { hello: { ...hello, ops: isOfAdvantages ? { advantages: {} } : others }, ops }, is);
}
const critics = (name: string, error: Parameters<typeof critic>[0], is: Semantics): Correct =>
  odd(
    name,
    {
      hello: { protocol: 1, name, dtype: 'float64', ops: { value_loss: {} } },
      ops: { value_loss: critic(error) },
    },
    is,
  );

type Rules = Parameters<typeof legal>[1];
type Declared = Omit<NonNullable<Parameters<typeof legal>[2]>, 'is'>;
function legalOdd(name: string, ops: Rules, is: Semantics, declared: Declared = {}): Correct {
  const { trainer } = legal(name, ops, declared);
  return { name, is, open: async () => ({ trainer, tokenizer: undefined }) };
}

const logRatios = ({ logprobs, ref_logprobs }: Args<'kl'>): number[][] =>
  logprobs.map((row, b) => row.map((value, t) => cell(ref_logprobs, b, t) - value));
const inPlace = (args: Args<'kl'>) => {
  const kl = logRatios(args).map((row) => row.map((d) => Math.expm1(d) - d));
  // As `logprobs -= ref_logprobs` does.
  for (const [b, row] of args.logprobs.entries())
    for (const [t, value] of row.entries()) (row as number[])[t] = value - cell(args.ref_logprobs, b, t);
  return { kl };
};
const fourthPower = (args: Args<'kl'>) => ({ kl: logRatios(args).map((row) => row.map((d) => d ** 4)) });
const ofSquares = (args: Args<'loss'>) => {
  const tokens = Math.max(1, sum(args.completion_mask.flat()));
  const loss_weights = args.completion_mask.map((row, b) =>
    row.map((on, t) => {
      const ratio = Math.exp(cell(args.logprobs, b, t) - cell(args.old_logprobs, b, t));
      return on === 1 ? (-(ratio ** 2) * (args.advantages[b] ?? 0)) / tokens : 0;
    }),
  );
  return { loss: sum(loss_weights.flat()) / 2, loss_weights };
};
/** Rewards as a matrix of one group a row: its width is rows over groups. */
const reshaped = ({ rewards, group_ids }: Args<'advantages'>) => {
  const groups = [...new Set(group_ids)];
  const size = rewards.length / groups.length;
  return {
    advantages: rewards.map((reward, row) => {
      const total = sum(rewards.filter((_, other) => group_ids[other] === group_ids[row]));
      return reward - total / size;
    }),
  };
};
const bootstrapped = (args: Args<'gae'>) => ({
  advantages: args.completion_mask.map((mask, b) => {
    let [next, toCome] = [cell(args.values, b, mask.lastIndexOf(1) + 1) || 0, 0];
    return mask
      .map((_, t) => t)
      .toReversed()
      .map((t) => {
        if (mask[t] !== 1) return 0;
        const delta = cell(args.rewards, b, t) + args.gamma * next - cell(args.values, b, t);
        toCome = delta + args.gamma * args.lam * toCome;
        next = cell(args.values, b, t);
        return toCome;
      })
      .toReversed();
  }),
});

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const ofPairs = (loss: (margin: number) => number) => (args: Args<'preference_loss'>) => {
  const total = (rows: Rows, b: number): number => sum(rows[b] ?? []);
  const losses = args.chosen_logprobs.map((_, b) => {
    const chosen = total(args.chosen_logprobs, b) - total(args.ref_chosen_logprobs, b);
    return loss(0.1 * (chosen - total(args.rejected_logprobs, b) + total(args.ref_rejected_logprobs, b)));
  });
  return { loss: mean(losses), losses };
};
const driven = ({ chosen_scores: chosen, rejected_scores: rejected }: Args<'reward_loss'>) => {
  const losses = chosen.map((score, row) => {
    const other = rejected[row] ?? Number.NaN;
    return softplus(other - score) - 0.05 * (score + other) ** 2;
  });
  return { loss: mean(losses), losses };
};
const punished = (args: Args<'loss'>) => {
  const tokens = Math.max(1, sum(args.completion_mask.flat()));
  let loss = 0;
  const loss_weights = args.completion_mask.map((row, b) =>
    row.map((on, t) => {
      if (on !== 1) return 0;
      const ratio = Math.exp(cell(args.logprobs, b, t) - cell(args.old_logprobs, b, t));
      const entropy = args.entropy === undefined ? 0 : cell(args.entropy, b, t);
      loss += (0.1 * entropy - ratio * (args.advantages[b] ?? 0)) / tokens;
      return (-ratio * (args.advantages[b] ?? 0)) / tokens;
    }),
  );
  return { loss, loss_weights };
};

export const ODD: readonly Correct[] = [
  policy('a lower bound of 0.4 on the ratio', { clip: [0.6, 0.2] }, { clip_low: 0.6 }),
  policy('an upper bound of 2.5 on the ratio', { clip: [0.2, 1.5] }, { clip_high: 1.5 }),
  policy('no lower bound on the ratio', { clip: [Infinity, 0.2] }, { clip_low: null }),
  policy('no upper bound on the ratio', { clip: [0.2, Infinity] }, { clip_high: null }),
  policy('a dual clip at 1.25', { dual: 1.25 }, { dual_clip: 1.25 }),
  policy('k3 within 1', { kl: clamped(k3, 1) }, { kl_clamp: 1 }),
  policy('k1 in the loss', { kl: k1 }, { kl_estimator: 'k1' }),
  policy('a KL that outweighs all', { beta: 8 }, { kl_coef: 8 }),
  policy('a plain sum over tokens', { factor: () => 1 }, { loss_norm: 1 }),
  policy('no baseline', { baseline: () => 0, scaling: 'none' }, { advantage_baseline: 'none' }),
  policy('an epsilon of 0.05', { divisor: (deviation) => deviation + 0.05 }, { advantage_epsilon: 0.05 }),
  policy(
    'no advantage where rewards are almost equal',
    { divisor: (deviation) => (deviation < 0.001 ? Infinity : deviation) },
    { advantage_min_std: 0.001 },
  ),
  policy('a log-ratio within 1', { held: 1 }, { log_ratio_clamp: 1 }),
  policy('a mean over tokens in each micro-batch', { local: true }, { loss_normalization: 'local' }),
  odd(
    'a supervised mean over tokens in each micro-batch',
    {
      hello: { protocol: 1, name: 'local', dtype: 'float64', ops: { sft_loss: { micro_batches: true } } },
      ops: {
        sft_loss: ({ logits, labels, micro_batches }) => {
          const { loss, weights } = localSftLoss(logits, labels, micro_batches);
          return { loss, loss_weights: weights };
        },
      },
    },
    { loss_normalization: 'local' },
  ),
  critics('squared errors twice', { error: clipped(0.2), factor: 2 }, { value_loss_factor: 2 }),
  critics('values that hardly move', { error: clipped(0.005) }, { value_clip: 0.005 }),
  legalOdd('a KL that writes into its arguments', { kl: inPlace }, { in_place: ['kl'] }),
  legalOdd(
    'a KL and a policy loss of their own',
    { kl: fourthPower, loss: ofSquares },
    { own_formulas: ['kl', 'loss'] },
  ),
  legalOdd('advantages of rows that are reshaped', { advantages: reshaped }, { equal_groups: true }),
  legalOdd('an estimate that goes on behind the row', { gae: bootstrapped }, { gae_bootstrap: true }),
  legalOdd(
    'completions known by their lengths',
    { loss: lossOfLengths, kl: klOfLengths },
    { single_turn: true },
    { can: { loss: { sampling_logprobs: true } }, semantics: { kl_estimator: 'k1' } },
  ),
  legalOdd(
    'a critic of completions known by their lengths',
    criticOfLengths,
    { single_turn: true },
    {
      can: CRITIC,
      semantics: VALUES,
    },
  ),
  legalOdd(
    'more wrong labels than right ones',
    { preference_loss: ofPairs((margin) => 0.4 * softplus(-margin) + 0.6 * softplus(margin)) },
    { preference_label_smoothing: 0.6 },
  ),
  legalOdd(
    'DPO, declared as its own formula',
    { preference_loss: ofPairs((margin) => softplus(-margin)) },
    { own_formulas: [], preference_objective: 'dpo', preference_beta: 0.1, preference_label_smoothing: 0 },
    { semantics: { own_formulas: ['preference_loss'] } },
  ),
  legalOdd(
    'DPO over means with a beta for sums',
    { preference_loss: each(dpo(0.1), { averaged: true, beta: 0.1 }) },
    { preference_objective: 'dpo_norm' },
  ),
  legalOdd(
    'tokens that weigh up to thirty times as much',
    { loss: corrected({ factors: perToken((ratio) => Math.min(ratio, 30)) }) },
    { sampling_correction_high: 30 },
    ENGINE,
  ),
  legalOdd(
    'tokens that the engine made too likely, at nearly full weight',
    { loss: corrected({ factors: perToken((ratio) => Math.min(Math.max(ratio, 0.95), 2)) }) },
    { sampling_correction_low: 0.95 },
    ENGINE,
  ),
  legalOdd('experts that are balanced above all', { balance_loss: transformers(2) }, { balance_coef: 2 }),
  legalOdd('scores that are driven from 0', { reward_loss: driven }, { reward_centering: -0.05 }),
];

/** Values that no question is about, since a relation fails on them first, declared or not: with that property. */
export const NEVER_ASKED: Readonly<Record<string, { readonly correct: Correct; readonly fails: string }>> = {
  'practice: entropy_coef below 0': {
    correct: legalOdd(
      'entropy that is punished',
      { loss: punished },
      { entropy_coef: -0.1 },
      { can: { loss: { entropy: true } } },
    ),
    fails: 'loss/entropy-is-rewarded',
  },
};
