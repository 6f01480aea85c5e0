// Legal trainers whose settings are called like what they declare: asked for another value, they compute with it, and
// with nothing else changed.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal, mean, type Rows, sum } from '../legal.ts';

type Settings = Readonly<Record<string, number>>;

/** The defaults with what was asked for; what does not exist is refused. */
function configured<S extends Settings>(
  defaults: S,
  asked: Readonly<Record<string, number | string>> | undefined,
): S {
  const unknown = Object.keys(asked ?? {}).find((name) => !(name in defaults));
  if (unknown !== undefined) return reject(`no setting ${unknown}`);
  return { ...defaults, ...asked };
}

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

type PairLoss = (args: Args<'preference_loss'>) => Ok<'preference_loss'>;
const summed = (rows: Rows, refs: Rows): number[] => rows.map((row, b) => sum(row) - sum(refs[b] ?? []));

/** Conservative smoothing, a sum over pairs, and rewards without beta. */
const smoothedDpo: PairLoss = (args) => {
  const { beta, label_smoothing: share } = configured({ beta: 0.25, label_smoothing: 0 }, args.settings);
  const chosen = summed(args.chosen_logprobs, args.ref_chosen_logprobs);
  const rejected = summed(args.rejected_logprobs, args.ref_rejected_logprobs);
  const losses = chosen.map((c, b) => {
    const margin = beta * (c - (rejected[b] ?? 0));
    return (1 - share) * softplus(-margin) + share * softplus(margin);
  });
  return { loss: sum(losses), losses, chosen_rewards: chosen, rejected_rewards: rejected };
};

const simpo: PairLoss = (args) => {
  const { beta, preference_gamma: gamma } = configured({ beta: 2, preference_gamma: 0.5 }, args.settings);
  const [chosen, rejected] = [args.chosen_logprobs.map(mean), args.rejected_logprobs.map(mean)];
  const losses = chosen.map((c, b) => softplus(-beta * (c - (rejected[b] ?? 0) - gamma)));
  return { loss: mean(losses), losses };
};

/** The mean over all tokens, with k1 in the loss, whose gradient is the coefficient. */
const policy = (args: Args<'loss'>): Ok<'loss'> => {
  const s = configured({ kl_coef: 0.125, clip_low: 0.2, clip_high: 0.25 }, args.settings);
  const tokens = Math.max(1, sum(args.completion_mask.flat()));
  let loss = 0;
  const loss_weights = args.completion_mask.map((marks, b) =>
    marks.map((on, t) => {
      if (on !== 1) return 0;
      const at = (rows: Rows): number => rows[b]?.[t] ?? 0;
      const advantage = args.advantages[b] ?? 0;
      const ratio = Math.exp(at(args.logprobs) - at(args.old_logprobs));
      const held = Math.min(Math.max(ratio, 1 - s.clip_low), 1 + s.clip_high);
      const free = ratio * advantage <= held * advantage;
      loss += -Math.min(ratio * advantage, held * advantage) / tokens;
      loss += (s.kl_coef * (at(args.logprobs) - at(args.ref_logprobs))) / tokens;
      return ((free ? -ratio * advantage : 0) + s.kl_coef) / tokens;
    }),
  );
  return { loss, loss_weights };
};

/** The mean over all tokens of the clipped objective, and the mean over rows of k3 of each row's mean log-ratio. */
const ofRows = (args: Args<'loss'>): Ok<'loss'> => {
  const bare = policy({ ...args, settings: { kl_coef: 0 } });
  const places = args.completion_mask.map((row) => row.flatMap((on, t) => (on === 1 ? [t] : [])));
  const gaps = places.map((own, b) =>
    own.length === 0
      ? 0
      : mean(own.map((t) => (args.ref_logprobs[b]?.[t] ?? 0) - (args.logprobs[b]?.[t] ?? 0))),
  );
  return {
    loss: bare.loss + 0.125 * mean(gaps.map((d) => Math.expm1(d) - d)),
    loss_weights: (bare.loss_weights ?? []).map((row, b) =>
      row.map((weight, t) => {
        const own = places[b] ?? [];
        const slope = -Math.expm1(gaps[b] ?? 0) / Math.max(1, own.length);
        return weight + (own.includes(t) ? (0.125 * slope) / gaps.length : 0);
      }),
    ),
  };
};

export const settings: readonly Legal[] = [
  legal(
    'DPO with settings beta and label_smoothing',
    { preference_loss: smoothedDpo },
    {
      can: { preference_loss: { knobs: { beta: [0.25, 1, 0.0625], label_smoothing: [0, 0.25] } } },
      semantics: { preference_objective: 'dpo', preference_beta: 0.25, preference_label_smoothing: 0 },
    },
  ),
  legal(
    'SimPO with settings beta and preference_gamma',
    { preference_loss: simpo },
    {
      can: { preference_loss: { knobs: { beta: [2, 1], preference_gamma: [0.5, 0.25] } } },
      semantics: { preference_objective: 'simpo', preference_beta: 2, preference_gamma: 0.5 },
    },
  ),
  legal(
    'a policy loss with a KL of rows',
    { loss: ofRows },
    {
      semantics: {
        loss_aggregation: 'token-mean',
        clip_low: 0.2,
        clip_high: 0.25,
        kl_estimator: 'k3',
        kl_level: 'sequence',
        kl_placement: 'loss',
        kl_coef: 0.125,
        kl_clamp: null,
        dual_clip: null,
      },
    },
  ),
  legal(
    'a policy loss with settings kl_coef, clip_low and clip_high',
    { loss: policy },
    {
      can: {
        loss: { knobs: { kl_coef: [0.125, 0, 1], clip_low: [0.2, 0.5], clip_high: [0.25, 1] } },
      },
      semantics: {
        loss_aggregation: 'token-mean',
        clip_low: 0.2,
        clip_high: 0.25,
        kl_estimator: 'k1',
        kl_placement: 'loss',
        kl_coef: 0.125,
        kl_clamp: null,
        kl_ratio_correction: false,
        dual_clip: null,
      },
    },
  ),
];
