// The settings of the policy loss that agree with what a trainer declares. What is not declared ranges over what
// public trainers do; a trainer that fits one of them is never called wrong.
import { CHOICES, type RatioLevel, type Semantics } from '../../vocabulary.ts';
import { describeKl, type KlVariant, klVariants, straightThrough } from '../scores/kl.ts';
import type { LossSettings } from './loss.ts';

/** [low, high]: PPO and GRPO, DAPO's clip-higher, common narrower and wider ones, GSPO, and no clipping at all. */
const KNOWN_CLIPS: readonly (readonly [number, number])[] = [
  [0.2, 0.2],
  [0.2, 0.28],
  [0.1, 0.1],
  [0.3, 0.3],
  [3e-4, 4e-4],
  [Infinity, Infinity],
];
/** Defaults and examples of public trainers (TRL 0.0, older TRL 0.04, verl 0.001, OpenRLHF 0.01). */
const KNOWN_KL_COEFFICIENTS: readonly number[] = [0, 0.04, 0.001, 0.01, 0.1];
/** No ratio at all is asked about where it is not declared: nothing would correct a second pass over the same rollouts. */
const RATIO_LEVELS: readonly RatioLevel[] = ['token', 'sequence'];
const UNCLIPPED: readonly (readonly [number, number])[] = [[Infinity, Infinity]];

/**
 * Every setting that agrees with the declaration, the usual ones first; thousands when little is declared, so
 * compute it once a trainer and stop at the first fit. `token-sum-norm` needs its constant: the declared one, or
 * `norms` that the caller thinks possible (rows times completion width, say); without either it is left out, and
 * the answer is empty for a trainer that declares only the name; a declared one may be of the batch or of each row. A KL that is placed in the
 * reward has no term in the loss. With `straight`, its term may also be descended as k2, whatever it is estimated as.
 */
export function lossVariants(
  semantics: Semantics,
  options: { readonly norms?: readonly number[]; readonly straight?: boolean } = {},
): LossSettings[] {
  const norms = semantics.loss_norm === undefined ? (options.norms ?? []) : [semantics.loss_norm];
  const ratioLevels = semantics.ratio_level === undefined ? RATIO_LEVELS : [semantics.ratio_level];
  return ratioLevels.flatMap((ratioLevel) =>
    aggregationsOf(semantics, norms).flatMap((aggregation) =>
      (ratioLevel === 'none' ? UNCLIPPED : clipsOf(semantics)).flatMap(([clipLow, clipHigh]) =>
        klTermsOf(semantics, options.straight ?? false).flatMap((term) =>
          objectivesOf(semantics, ratioLevel).map((objective) => ({
            ...aggregation,
            clipLow,
            clipHigh,
            ratioLevel,
            ...term,
            ...objective,
          })),
        ),
      ),
    ),
  );
}

/** What is declared of the objective itself; a dual clip that is not declared is the check's business. */
function objectivesOf(
  semantics: Semantics,
  ratioLevel: RatioLevel,
): Pick<LossSettings, 'objective' | 'detached' | 'dualClip' | 'logRatioClamp'>[] {
  if (ratioLevel === 'none') return [{ detached: false }, { detached: true }];
  const { dual_clip: dualClip, log_ratio_clamp: clamp } = semantics;
  const bounds = {
    ...(typeof dualClip === 'number' ? { dualClip } : {}),
    ...(typeof clamp === 'number' ? { logRatioClamp: clamp } : {}),
  };
  const objectives =
    semantics.policy_objective === undefined ? CHOICES.policy_objective.values : [semantics.policy_objective];
  return objectives.flatMap((objective) =>
    objective === 'cispo' && ratioLevel === 'sequence' ? [] : [{ objective, ...bounds }],
  );
}

/** "token-mean, ratio clipped to [0.8, 1.2], plus 0.04 times KL (k3)". */
export function describeLoss(settings: LossSettings): string {
  const unclipped = settings.clipLow === Infinity && settings.clipHigh === Infinity;
  const round = (x: number): number => Number(x.toPrecision(6));
  const norm =
    settings.aggregation === 'token-sum-norm'
      ? ` (divided by ${settings.normPer === 'row' ? 'rows times ' : ''}${settings.norm})`
      : '';
  const rows = settings.emptyRows === 'skip' ? ', rows without tokens not counted' : '';
  const ratio = settings.ratioLevel === 'sequence' ? "a sequence's ratio" : 'ratio';
  const clip =
    settings.ratioLevel === 'none'
      ? 'no ratio'
      : unclipped
        ? `${ratio} not clipped`
        : `${ratio} clipped to [${round(1 - settings.clipLow)}, ${round(1 + settings.clipHigh)}]`;
  const kl =
    settings.kl === null || settings.klCoef === 0
      ? 'no KL term'
      : `plus ${settings.klCoef} times KL (${describeKl(settings.kl)})`;
  const cispo = settings.objective === 'cispo' ? ' and held without gradient (CISPO)' : '';
  return `${settings.aggregation}${norm}${rows}, ${clip}${cispo}, ${kl}`;
}

type AggregationChoice = Pick<LossSettings, 'aggregation' | 'norm' | 'normPer' | 'emptyRows'>;
type KlChoice = Pick<LossSettings, 'klCoef' | 'kl'>;

function aggregationsOf(semantics: Semantics, norms: readonly number[]): AggregationChoice[] {
  const declared = semantics.loss_aggregation;
  return (declared === undefined ? CHOICES.loss_aggregation.values : [declared]).flatMap(
    (aggregation): AggregationChoice[] => {
      if (aggregation === 'token-mean') return [{ aggregation, norm: 1, emptyRows: 'count' }];
      if (aggregation === 'token-sum-norm') {
        const normsPer =
          semantics.loss_norm === undefined ? (['batch'] as const) : (['batch', 'row'] as const);
        return normsPer.flatMap((normPer) =>
          norms.map((norm) => ({ aggregation, norm, normPer, emptyRows: 'count' as const })),
        );
      }
      return (['count', 'skip'] as const).map((emptyRows) => ({ aggregation, norm: 1, emptyRows }));
    },
  );
}

function clipsOf(semantics: Semantics): (readonly [number, number])[] {
  const { clip_low: low, clip_high: high } = semantics;
  const pairs = KNOWN_CLIPS.map(([knownLow, knownHigh]) => [low ?? knownLow, high ?? knownHigh] as const);
  // One side declared makes some pairs equal; and the plainest reading of one number is that it holds for both.
  if (low !== undefined || high !== undefined) pairs.unshift([low ?? high ?? 0, high ?? low ?? 0]);
  return pairs.filter(
    ([a, b], index) => pairs.findIndex(([otherA, otherB]) => a === otherA && b === otherB) === index,
  );
}

const OVER = ['tokens', 'rows', 'rows with tokens'] as const;

function klTermsOf(semantics: Semantics, straight: boolean): KlChoice[] {
  const inReward = semantics.kl_placement === 'reward';
  const coefficients = inReward
    ? [0]
    : semantics.kl_coef === undefined
      ? KNOWN_KL_COEFFICIENTS
      : [semantics.kl_coef];
  return coefficients.flatMap((klCoef): KlChoice[] =>
    klCoef === 0
      ? [{ klCoef, kl: null }]
      : klsOf(semantics, straight).flatMap((kl) =>
          (kl.ofRow === undefined ? [undefined] : OVER).map((over) => ({
            klCoef,
            kl: over === undefined ? kl : { ...kl, over },
          })),
        ),
  );
}

function klsOf(semantics: Semantics, straight: boolean): KlVariant[] {
  const known = klVariants(semantics);
  return straight ? [...known, ...straightThrough(known)] : known;
}
