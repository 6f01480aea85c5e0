// The loss of completions that are labelled one by one, with its numbers: solved for on rows of one token, then held against KLs
// above and below 0, longer rows, and batches.
import { type Labelled, type LabelledRow, labelledRows } from '../../../generators/losses/unpaired-loss.ts';
import {
  describeUnpaired,
  type UnpairedLossInput,
  type UnpairedSettings,
  unpairedLoss,
} from '../../../reference/index.ts';
import { CHOICES, type DType } from '../../../vocabulary.ts';
import { bandOf, many } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { draw, misfitOf, type Probe, settled, type Variant } from '../probe.ts';

interface UnpairedWay extends Variant {
  readonly settings: UnpairedSettings;
}

export const unpairedObjective: Probe<Labelled> = {
  id: 'unpaired_objective',
  items: ['unpaired_objective', 'unpaired_beta', 'desirable_weight', 'undesirable_weight'],
  ops: ['unpaired_preference_loss'],
  variants: async (subject) => {
    const { semantics } = subject;
    const blur = Math.max(SOLVED, bandOf(subject).relative);
    // A row that policy and reference rate alike, under no KL, loses half of its weight.
    const [desirable, undesirable] = [
      2 * (await lossOf(subject, one(true, 0))),
      2 * (await lossOf(subject, one(false, 0))),
    ];
    const beta = await betaOf(subject, desirable);
    const numbers = {
      beta: settled(beta ?? Number.NaN, blur, semantics.unpaired_beta),
      desirableWeight: settled(desirable, blur, semantics.desirable_weight),
      undesirableWeight: settled(undesirable, blur, semantics.undesirable_weight),
    };
    const known = Object.values(numbers).every((value) => Number.isFinite(value) && value > 0)
      ? numbers
      : USUAL;
    return CHOICES.unpaired_objective.values.map((objective): UnpairedWay => {
      const settings = { objective, ...known };
      return {
        name: describeUnpaired(settings),
        items: {
          unpaired_objective: objective,
          unpaired_beta: known.beta,
          desirable_weight: known.desirableWeight,
          undesirable_weight: known.undesirableWeight,
        },
        settings,
      };
    });
  },
  cases: (_, drawn) => [...BY_HAND, ...draw(labelledRows(), drawn)],
  async fits(subject, given, variants) {
    const observed = await lossOf(subject, given);
    const args = inputOf(given);
    const band = bandOf(subject, given.rows.length);
    const where = `the loss of ${many(given.rows.length, 'row')}`;
    return (variants as readonly UnpairedWay[]).map(({ settings }) => {
      const expected = unpairedLoss(args, settings).loss;
      const slack = blurOf(subject, given, settings);
      return misfitOf([{ where, expected, observed }], (want) => band.allowed(want) + slack);
    });
  },
};

const inputOf = ({ rows }: Labelled): UnpairedLossInput => ({
  logprobs: rows.map(({ tokens }) => tokens.map(({ logprob }) => logprob)),
  ref_logprobs: rows.map(({ tokens }) => tokens.map(({ ref }) => ref)),
  desirable: rows.map(({ desirable }) => (desirable ? 1 : 0)),
  kl_logprobs: rows.map(({ kl }) => kl.map(({ logprob }) => logprob)),
  ref_kl_logprobs: rows.map(({ kl }) => kl.map(({ ref }) => ref)),
});

async function lossOf(subject: Subject, given: Labelled): Promise<number> {
  const { loss } = await subject.ask('unpaired_preference_loss', inputOf(given));
  return loss;
}

/** From 1 - sigmoid(beta r) of a desirable row, at the log-ratio r where it is steep. */
async function betaOf(subject: Subject, weight: number): Promise<number | undefined> {
  let found: number | undefined;
  for (const ratio of RATIOS) {
    const share = (await lossOf(subject, one(true, ratio))) / weight;
    if (!(share > LEAST_SHARE && share < 1)) break;
    found = Math.log((1 - share) / share) / ratio;
  }
  return found;
}

/** What the rounding of log-ratios, small differences of large sums, makes of the loss: the sigmoid is nowhere steeper than 1/4. */
function blurOf({ hello }: Subject, { rows }: Labelled, settings: UnpairedSettings): number {
  const all = rows.flatMap(({ tokens, kl }) => [...tokens, ...kl]);
  const total = all.reduce((sum, { logprob, ref }) => sum + Math.abs(logprob) + Math.abs(ref), 0);
  const steepest = (Math.max(settings.desirableWeight, settings.undesirableWeight) * settings.beta) / 4;
  return ROUNDING[hello.dtype ?? 'float32'] * total * steepest;
}

const token = (logprob: number, ref: number) => ({ logprob, ref });
const tie = token(-1, -1);
const row = (desirable: boolean, ratio: number, kl = [tie]): LabelledRow => ({
  desirable,
  tokens: [token(-1, -1 - ratio)],
  kl,
});
const one = (desirable: boolean, ratio: number): Labelled => ({ rows: [row(desirable, ratio)] });

/** Of both kinds, ahead of the reference and behind; KLs above 0 and below; two tokens; both kinds, and three to one. */
const BY_HAND: readonly Labelled[] = [
  ...[true, false].flatMap((kind) => [
    one(kind, 2),
    one(kind, -3),
    { rows: [row(kind, 1, [token(-1, -4)])] },
    { rows: [row(kind, 1, [token(-4, -1)])] },
    {
      rows: [
        { desirable: kind, tokens: [token(-1, -3), token(-2, -1.5)], kl: [token(-1, -2), token(-1, -3)] },
      ],
    },
  ]),
  { rows: [row(true, 2, [token(-1, -5)]), row(false, 1, [token(-2, -1)])] },
  { rows: [row(true, 2, [token(-1, -2)]), row(true, -1), row(false, 1), row(true, 3, [token(-3, -1)])] },
];

/** Out to where a beta of 0.01 is steep, from where one of 10 is. */
const RATIOS: readonly number[] = [0.125, 1, 4, 16, 64];
/** 1 - sigmoid is a difference: less of it has too few digits. */
const LEAST_SHARE = 0.1;
const SOLVED = 1e-5;
/** Shown as the closest where the loss gives no number at all. */
const USUAL = { beta: 0.1, desirableWeight: 1, undesirableWeight: 1 };
/** A rounding of these formats; the bands of the others leave room for it. */
const ROUNDING: Readonly<Record<DType, number>> = {
  float64: 0,
  float32: 0,
  bfloat16: 2 ** -8,
  float16: 2 ** -11,
};
