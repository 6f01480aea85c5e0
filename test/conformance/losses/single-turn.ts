// Trainers of single turns that know their completions by lengths: a mask is a count of tokens from the first column behind the
// prompt, as `arange(width) < lengths[:, None]` makes it.
import type { Args, Ok, Semantics } from '../../../src/index.ts';
import { gae, returns, slotBehind, whiten } from '../advantages/tokens.ts';
import { cell, type Legal, legal, type Rows, sum } from '../legal.ts';
import { entropies } from '../scores/entropies.ts';
import { answering, plain } from '../scores/full-kl.ts';
import { clipped, critic } from './value-loss.ts';

const ofLengths = (mask: Rows, start: number): number[][] =>
  mask.map((row) => row.map((_, t) => (t >= start && t < start + sum(row) ? 1 : 0)));

const byLengths = <A extends { readonly completion_mask: Rows; readonly prompt_width: number }>(
  args: A,
): A => ({
  ...args,
  completion_mask: ofLengths(args.completion_mask, args.prompt_width),
});

/** The ratio's mean over all tokens, times the advantage. */
export function lossOfLengths(args: Args<'loss'>): Ok<'loss'> {
  const mask = ofLengths(args.completion_mask, args.prompt_width);
  const tokens = Math.max(1, sum(mask.flat()));
  const loss_weights = mask.map((row, b) =>
    row.map((on, t) => {
      const ratio = Math.exp(cell(args.logprobs, b, t) - cell(args.old_logprobs, b, t));
      return on === 1 ? (-ratio * (args.advantages[b] ?? 0)) / tokens : 0;
    }),
  );
  const metrics =
    args.sampling_logprobs === undefined
      ? {}
      : { metrics: { sampling_gap: gapOf(args.old_logprobs, args.sampling_logprobs, mask) } };
  return { loss: sum(loss_weights.flat()), loss_weights, ...metrics };
}

function gapOf(old: Rows, engine: Rows, mask: Rows): number {
  const distances = mask.flatMap((row, b) =>
    row.flatMap((on, t) => (on === 1 ? [Math.abs(cell(old, b, t) - cell(engine, b, t))] : [])),
  );
  return sum(distances) / distances.length;
}

export function klOfLengths(args: Args<'kl'>): Ok<'kl'> {
  const mask = ofLengths(args.completion_mask, args.prompt_width);
  const kl = mask.map((row, b) =>
    row.map((on, t) => (on === 1 ? cell(args.logprobs, b, t) - cell(args.ref_logprobs, b, t) : 0)),
  );
  return { kl, mean_kl: sum(kl.flat()) / Math.max(1, sum(mask.flat())) };
}

export const criticOfLengths = {
  value_loss: (args: Args<'value_loss'>) => critic({ error: clipped(0.2) })(byLengths(args)),
  token_rewards: (args: Args<'token_rewards'>) => slotBehind(byLengths(args)),
  gae: (args: Args<'gae'>) => gae()(byLengths(args)),
  returns: (args: Args<'returns'>) => returns()(byLengths(args)),
  whiten: (args: Args<'whiten'>) => whiten()(byLengths(args)),
  entropy: (args: Args<'entropy'>) => ({ entropy: entropies(byLengths(args), 0) }),
  full_kl: (args: Args<'full_kl'>) => answering(plain((x) => x))(byLengths(args)),
};
export const CRITIC = { value_loss: { micro_batches: true, ranks: true } } as const;
export const VALUES: Semantics = {
  value_clip: 0.2,
  value_loss_factor: 0.5,
  value_aggregation: 'token-mean',
};

export const singleTurns: readonly Legal[] = [
  legal(
    'completions known by their lengths',
    { loss: lossOfLengths, kl: klOfLengths },
    { can: { loss: { sampling_logprobs: true } }, semantics: { single_turn: true, kl_estimator: 'k1' } },
  ),
  legal('a critic of completions known by their lengths', criticOfLengths, {
    can: CRITIC,
    semantics: { single_turn: true, ...VALUES },
  }),
];
