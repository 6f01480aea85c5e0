// Does the loss that was measured piece by piece hold as a whole, on batches drawn like those of the properties?
// It measures no item. Where it does not fit, there is more in the loss than its pieces, and nothing is built on them.
import { type Tracks, tracks } from '../../../generators/losses/tracks.ts';
import { describeLoss, type LossSettings, lossVariants, policyLoss } from '../../../reference/index.ts';
import type { ItemName, RatioLevel } from '../../../vocabulary.ts';
import { bandOf, mayDescendStraight } from '../../numbers.ts';
import { layTracks } from '../../rows/tracks.ts';
import { discard } from '../../subject.ts';
import { draw, misfitOf, type Probe, type Variant } from '../probe.ts';
import { effect, effectPairs, hasNoRatio } from './policy.ts';

/** Together they are the formula. */
export const FORMULA_ITEMS: readonly ItemName[] = [
  'loss_aggregation',
  'loss_norm',
  'clip_low',
  'clip_high',
  'kl_coef',
  'ratio_level',
  'policy_objective',
  'dual_clip',
  'log_ratio_clamp',
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
      (item) => semantics[item] === undefined && !(hasNoRatio(semantics) && item.startsWith('clip_')),
    )
      ? 'some of its pieces could not be told'
      : undefined,
  variants: async (subject) =>
    lossVariants(subject.semantics, { straight: mayDescendStraight(subject) }).map(
      (settings): FormulaWay => ({ name: describeLoss(settings), items: {}, settings }),
    ),
  cases: (_, drawn) => draw(tracks(), LEAST + drawn),
  async fits(subject, given, variants) {
    const laid = layTracks(given, { whole: true });
    const { clip_low = 0, clip_high = 0, dual_clip: dual, ratio_level } = subject.semantics;
    const [low, high] = [clip_low ?? Infinity, clip_high ?? Infinity];
    if (
      given.rows.some(({ tokens, advantage }) => {
        const logRatios = tokens.map(({ logprob, old }) => logprob - old);
        return logRatiosOf(logRatios, ratio_level).some((at) => doubtful(at, advantage, low, high, dual));
      })
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

/** Those of the tokens, and that of the row where it may be the one that counts. */
function logRatiosOf(logRatios: readonly number[], level: RatioLevel | undefined): readonly number[] {
  if (level === 'token' || logRatios.length === 0) return logRatios;
  const mean = logRatios.reduce((sum, logRatio) => sum + logRatio, 0) / logRatios.length;
  return level === 'sequence' ? [mean] : [...logRatios, mean];
}

/** The ratio is on an edge of the clip range, or on that of a dual clip: beyond 3 where it is not known. */
function doubtful(
  logRatio: number,
  advantage: number,
  low: number,
  high: number,
  dual: number | null | undefined,
): boolean {
  const edges = [Math.log(Math.max(0, 1 - low)), Math.log(1 + high)];
  if (edges.some((edge) => Math.abs(logRatio - edge) < EDGE)) return true;
  if (advantage >= 0 || dual === null) return false;
  return dual === undefined ? logRatio > DUAL_CLIP - EDGE : Math.abs(logRatio - Math.log(dual)) < EDGE;
}

/** Enough that a ratio taken over a whole sequence, say, shows in most of them. */
const LEAST = 20;
const EDGE = 2 / 64;
/** The least one in use. */
const DUAL_CLIP = Math.log(3);
