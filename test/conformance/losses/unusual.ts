// Legal losses that are coarse or odd: half precision down to the answer, denominators of each rank, a preference loss that bends
// the other way near 0.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { cell, type Legal, legal, mean, type Rows, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Round = (value: number) => number;

const mapped = (rows: Rows, map: (value: number, row: number, column: number) => number): number[][] =>
  rows.map((row, b) => row.map((value, t) => map(value, b, t)));

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
  const coefficient = Number(settings.entropy_coef ?? entropyCoef);
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
const completion = { alignment: 'predictor', span: 'completion' } as const;
const PARTS = { micro_batches: true, ranks: true } as const;

const OWN = { is: { own_formulas: ['preference_loss'] } } as const;

export const unusualLosses: readonly Legal[] = [
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
  legal('DiscoPOP', { preference_loss: discoPop }, OWN),
];
