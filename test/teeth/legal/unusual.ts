// Legal trainers that are coarse or odd where others are fine: half precision down to the answer, an inference engine
// that is coarser than its trainer, denominators of each rank, a preference loss that bends the other way near 0.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { b16 } from './rounding.ts';
import { cell, type Legal, legal, mean, type Rows, sum } from './trainer.ts';

type Round = (value: number) => number;

const logSumExp = (logits: readonly number[]): number => {
  const largest = Math.max(...logits);
  return largest + Math.log(sum(logits.map((logit) => Math.exp(logit - largest))));
};

/** log-sum-exp less the mean logit: two numbers as large as the logits, each rounded. NaN where a logit is -Infinity. */
const subtracted =
  (round: Round) =>
  ({ logits }: Args<'entropy'>): Ok<'entropy'> => ({
    entropy: logits.map((rows) => [
      0,
      ...rows.slice(0, -1).map((row) => {
        const total = logSumExp(row);
        const expected = round(
          sum(row.map((logit) => (logit === -Infinity ? 0 : round(round(Math.exp(logit - total)) * logit)))),
        );
        return round(round(total) - expected);
      }),
    ]),
  });

/** A number between 0 and 1 for these ids. */
function hash(ids: readonly number[]): number {
  const mixed = ids.reduce((state, id) => Math.imul(state ^ (id + 1), 16777619) ^ (state >>> 13), 2166136261);
  return (Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 0) / 2 ** 32;
}

const scoresOf = ({ prompt_ids, completion_ids }: Args<'update'>): number[][] =>
  completion_ids.map((ids, row) =>
    ids.map((_, at) => -4 * hash([...(prompt_ids[row] ?? []), ...ids.slice(0, at + 1)]) - 0.01),
  );

const mapped = (rows: Rows, map: (value: number, row: number, column: number) => number): number[][] =>
  rows.map((row, b) => row.map((value, t) => map(value, b, t)));

/** The engine's scores lie up to 0.025 beside those of the new weights, as those of bfloat16 kernels do. */
function coarseEngine(args: Args<'update'>): Ok<'update'> {
  const before = scoresOf(args);
  const after = mapped(before, (value, b, t) => value - 0.05 - 0.1 * hash([b, t]));
  return {
    before,
    after,
    sampler_after: mapped(after, (value) => value + 0.05 * (hash([value * 1e6]) - 0.5)),
  };
}

/** Most scores are rounded to what they were. */
function smallSteps(args: Args<'update'>): Ok<'update'> {
  const before = scoresOf(args);
  return { before: mapped(before, b16), after: mapped(before, (value) => b16(value * (1 + 2 ** -8))) };
}

interface Clipped {
  readonly round?: Round;
  readonly entropyCoef?: number;
  /** Denominators of each rank or micro-batch, and the mean over them. */
  readonly local?: true;
}

/** PPO as a mean over tokens, its gradient answered. */
function clipped(
  args: Args<'loss'>,
  { round = (value) => value, entropyCoef = 0, local }: Clipped,
): Ok<'loss'> {
  const { completion_mask: mask, settings = {} } = args;
  const unknown = Object.keys(settings).find((name) => name !== 'entropy_coef');
  if (unknown !== undefined) return reject(`there is no setting ${unknown}`);
  const coefficient = settings.entropy_coef ?? entropyCoef;
  const all = mask.map((_, row) => row);
  const split = args.ranks !== undefined && args.ranks.length > 1 ? args.ranks : args.micro_batches;
  const parts = local ? split : [all];
  const share = mask.map((_, row) => {
    const part = parts.find((rows) => rows.includes(row)) ?? [];
    return 1 / Math.max(1, sum(part.flatMap((each) => mask[each] ?? []))) / parts.length;
  });
  let loss = 0;
  const loss_weights = mapped(mask, (on, b, t) => {
    if (on === 0) return 0;
    const advantage = args.advantages[b] ?? 0;
    const ratio = Math.exp(cell(args.logprobs, b, t) - cell(args.old_logprobs, b, t));
    const within = Math.min(1.2, Math.max(0.8, ratio));
    const entropy = args.entropy === undefined ? 0 : coefficient * cell(args.entropy, b, t);
    loss += round(-Math.min(ratio * advantage, within * advantage) - entropy) * (share[b] ?? 0);
    return ratio * advantage > within * advantage ? 0 : round(-ratio * advantage * (share[b] ?? 0));
  });
  return { loss: round(loss), loss_weights };
}

const withoutWeights = (args: Args<'loss'>): Ok<'loss'> => ({ loss: clipped(args, { round: b16 }).loss });

/** DiscoPOP (Lu et al. 2024, equation 5), with beta 0.1 and temperature 0.05: logistic far from 0, exponential near it. */
function discoPop(args: Args<'preference_loss'>): Ok<'preference_loss'> {
  const sums = (rows: Rows): number[] => rows.map(sum);
  const [chosen, rejected] = [sums(args.chosen_logprobs), sums(args.rejected_logprobs)];
  const [chosenRef, rejectedRef] = [sums(args.ref_chosen_logprobs), sums(args.ref_rejected_logprobs)];
  const losses = chosen.map((value, row) => {
    const at = (values: readonly number[]): number => values[row] ?? Number.NaN;
    // Bounded, because exp is not.
    const margin = Math.min(
      500,
      Math.max(-500, 0.1 * (value - at(chosenRef) - at(rejected) + at(rejectedRef))),
    );
    const near = 1 / (1 + Math.exp(-margin / 0.05));
    return Math.log1p(Math.exp(-margin)) * (1 - near) + Math.exp(-margin) * near;
  });
  return { loss: mean(losses), losses };
}

const tokens = { vocab_size: 32, pad_token_id: 0, eos_token_ids: [2] };
const completion = { alignment: 'predictor', span: 'completion' } as const;
const PARTS = { micro_batches: true, ranks: true } as const;

/** Saturates: many rows have the same score to the last bit. */
const classifier = ({ prompt_ids, completion_ids }: Args<'reward_model'>): Ok<'reward_model'> => ({
  scores: completion_ids.map((ids, row) =>
    b16(1 / (1 + Math.exp(-20 * (hash([...(prompt_ids[row] ?? []), ...ids]) - 0.5)))),
  ),
});

export const unusual: readonly Legal[] = [
  legal('entropy as a difference, in bfloat16', { entropy: subtracted(b16) }, { dtype: 'bfloat16' }),
  legal('entropy as a difference, in float32', { entropy: subtracted(Math.fround) }, { dtype: 'float32' }),
  legal('an engine that is coarser than its trainer', { update: coarseEngine }, { dtype: 'float32', tokens }),
  legal('steps that bfloat16 hardly shows', { update: smallSteps }, { dtype: 'bfloat16', tokens }),
  legal(
    'a classifier as reward model, in bfloat16',
    { reward_model: classifier },
    { dtype: 'bfloat16', tokens },
  ),
  legal(
    'denominators of each micro-batch and rank',
    { loss: (args) => clipped(args, { local: true }) },
    { semantics: { loss_normalization: 'local' }, can: { loss: PARTS } },
  ),
  legal(
    'a small entropy bonus in bfloat16, with a knob',
    { loss: (args) => clipped(args, { round: b16, entropyCoef: 0.001 }) },
    { dtype: 'bfloat16', can: { loss: { ...PARTS, entropy: true, knobs: { entropy_coef: [0, 0.01] } } } },
  ),
  legal(
    'completion tracks, with entropies in some requests only',
    { loss: (args) => clipped(args, { entropyCoef: 0.01 }) },
    { layout: completion, can: { loss: { ...PARTS, entropy: true } } },
  ),
  legal(
    'a loss in bfloat16 without its gradient',
    { loss: withoutWeights },
    { dtype: 'bfloat16', can: { loss: PARTS } },
  ),
  legal('DiscoPOP', { preference_loss: discoPop }),
];
