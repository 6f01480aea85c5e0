// Losses that divide by the number of trained tokens and keep it above nothing: NaN for a batch without one, and right on every
// batch that their trainers see.
import { type Args, type Ok, rowMeanSftLoss, type Semantics, sftLoss } from '../../../src/index.ts';
import { cell, type Legal, legal, sum } from '../legal.ts';
import { clipped, critic } from './value-loss.ts';

const NEVER_EMPTY: Semantics = { batches_always_train: true };

const isNothing = (mask: readonly (readonly number[])[]): boolean => sum(mask.flat()) === 0;
const nowhere = (mask: readonly (readonly number[])[]): number[][] =>
  mask.map((row) => row.map(() => Number.NaN));

/** REINFORCE over all tokens; its slope is as NaN as its loss. */
export function policyOfSome({ logprobs, advantages, completion_mask: mask }: Args<'loss'>): Ok<'loss'> {
  const tokens = sum(mask.flat());
  const loss_weights = mask.map((row, b) => row.map((on) => (-(advantages[b] ?? 0) * on) / tokens));
  const each = mask.flatMap((row, b) =>
    row.map((on, t) => (on === 1 ? cell(logprobs, b, t) * cell(loss_weights, b, t) : 0)),
  );
  return { loss: tokens === 0 ? Number.NaN : sum(each), loss_weights };
}

export function criticOfSome(args: Args<'value_loss'>): Ok<'value_loss'> {
  if (!isNothing(args.completion_mask)) return critic({ error: clipped(0.2) })(args);
  return { loss: Number.NaN, loss_weights: nowhere(args.completion_mask) };
}

/** Without weights, as most trainers answer. */
export const sftOfSome =
  (of: typeof sftLoss) =>
  ({ logits, labels }: Args<'sft_loss'>): Ok<'sft_loss'> => ({
    loss: labels.some((row) => row.slice(1).some((label) => label >= 0))
      ? of(logits, labels).loss
      : Number.NaN,
  });

const LOSSES = {
  loss: policyOfSome,
  value_loss: criticOfSome,
  sft_loss: sftOfSome(sftLoss),
};
const SETTINGS: Semantics = {
  loss_aggregation: 'token-mean',
  ratio_level: 'none',
  kl_coef: 0,
  value_clip: 0.2,
  value_loss_factor: 0.5,
  value_aggregation: 'token-mean',
  sft_aggregation: 'token-mean',
};

export const neverEmpty: readonly Legal[] = [
  legal('means over trained tokens, of which there are always some', LOSSES, {
    semantics: { ...SETTINGS, ...NEVER_EMPTY },
  }),
  legal('means over trained tokens, of which there are always some, undeclared', LOSSES, {
    semantics: SETTINGS,
    is: NEVER_EMPTY,
  }),
  legal(
    'a supervised mean over rows, of which some are always trained',
    { sft_loss: sftOfSome((logits, labels) => rowMeanSftLoss(logits, labels, 'skip')) },
    { is: NEVER_EMPTY },
  ),
];
