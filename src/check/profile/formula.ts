// Does the loss that was measured piece by piece hold as a whole, on batches drawn like those of the properties?
// It measures no item. Where it does not fit, there is more in the loss than its pieces, and nothing is built on them.
import { type Tracks, tracks } from '../../generators/tracks.ts';
import { describeLoss, type LossSettings, lossVariants, policyLoss } from '../../reference/index.ts';
import { bandOf } from '../numbers.ts';
import { discard } from '../subject.ts';
import { layTracks } from '../tracks.ts';
import { effect, effectPairs } from './policy.ts';
import { draw, type ItemName, misfitOf, type Probe, type Variant } from './probe.ts';

/** Together they are the formula. */
export const FORMULA_ITEMS: readonly ItemName[] = [
  'loss_aggregation',
  'loss_norm',
  'clip_low',
  'clip_high',
  'kl_coef',
];

interface FormulaWay extends Variant {
  readonly settings: LossSettings;
}

export const lossFormula: Probe<Tracks> = {
  id: 'loss_formula',
  items: [],
  confirms: FORMULA_ITEMS,
  ops: ['loss'],
  lack: ({ semantics }) =>
    (['loss_aggregation', 'clip_low', 'clip_high', 'kl_coef'] as const).some(
      (item) => semantics[item] === undefined,
    )
      ? 'some of its pieces could not be told'
      : undefined,
  variants: async ({ semantics }) =>
    // The pieces were measured on single tokens, which do not tell a ratio a sequence from one a token.
    lossVariants({ ratio_level: 'token', ...semantics }).map(
      (settings): FormulaWay => ({ name: describeLoss(settings), items: {}, settings }),
    ),
  cases: (_, drawn) => draw(tracks(), LEAST + drawn),
  async fits(subject, given, variants) {
    const laid = layTracks(given, { whole: true });
    const { clip_low: low = 0, clip_high: high = 0 } = subject.semantics;
    if (
      given.rows.some(({ tokens, advantage }) =>
        tokens.some((token) => doubtful(token, advantage, low, high)),
      )
    )
      return discard('a ratio stands where float32, or a dual clip, may decide');
    const observed = await effect(subject, given.rows);
    const band = bandOf(subject, laid.completion_mask.flat().length);
    return (variants as readonly FormulaWay[]).map(({ settings }) => {
      const expected = policyLoss({ ...laid, mask: laid.completion_mask }, settings);
      const value = { where: 'the loss', expected: expected.loss, observed: observed.loss };
      return misfitOf([value, ...effectPairs(observed, expected)], band.allowed);
    });
  },
};

/** The ratio is on an edge of the clip range, or where a dual clip (at 3 or more, for bad answers) may bind. */
function doubtful(
  { logprob, old }: Tracks['rows'][number]['tokens'][number],
  advantage: number,
  low: number,
  high: number,
): boolean {
  const logRatio = logprob - old;
  const edges = [Math.log(Math.max(0, 1 - low)), Math.log(1 + high)];
  return edges.some((edge) => Math.abs(logRatio - edge) < EDGE) || (advantage < 0 && logRatio > DUAL_CLIP);
}

/** Enough that a ratio taken over a whole sequence, say, shows in most of them. */
const LEAST = 20;
const EDGE = 2 / 64;
const DUAL_CLIP = Math.log(3) - EDGE;
