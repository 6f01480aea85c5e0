// The policy loss against the formula that the trainer declares, value and gradient, off policy too. What is left
// undeclared ranges over the known variants; a coefficient of the KL is then solved for.
import {
  answersOf,
  type Band,
  bandOf,
  type Cause,
  causeIn,
  causeOf,
  causeWords,
  discard,
  ESTIMATED_NOTE,
  type Finding,
  type LossSettings,
  lossMistakes,
  lossVariants,
  lossWeights,
  mayDescendStraight,
  numberFinding,
  type PolicyLoss,
  type PolicyLossInput,
  type Property,
  policyLoss,
  richest,
  type Semantics,
  type Subject,
  show,
  type Tracks,
  tracks,
  type Weights,
} from '../../../src/index.ts';
import { type DualClip, dualClips, nearClip } from './edges.ts';
import { base, coverage, weightFinding, whole } from './loss.ts';

interface Compared {
  readonly expected: PolicyLoss;
  readonly wrongLoss: boolean;
  readonly wrongWeights: readonly (readonly [number, number])[];
}

interface Fit extends Compared {
  readonly settings: LossSettings;
}

const holds = ({ wrongLoss, wrongWeights }: Compared): boolean => !wrongLoss && wrongWeights.length === 0;

/** How an answer compares with a formula, under a dual clip with the two ends of what its constant may be. */
function fitOf(
  input: PolicyLossInput,
  observed: Weights,
  band: Band,
  settings: LossSettings,
  dual?: DualClip,
): Fit {
  const expected = policyLoss(input, dual === undefined ? settings : { ...settings, dualClip: dual.from });
  const last = dual === undefined ? expected : policyLoss(input, { ...settings, dualClip: dual.to });
  // A finite difference across the dual clip's edge is anything between the slopes on its two sides.
  const blurred = (row: number, column: number): boolean =>
    observed.estimated && (coarse(settings) || dual?.onEdge(row, column) === true);
  return { settings, ...against(input, observed, band, expected, last, blurred) };
}

/** How an answer compares with a loss that may end at `last`; weights that are `blurred` are not compared. */
function against(
  input: PolicyLossInput,
  observed: Weights,
  band: Band,
  expected: PolicyLoss,
  last: PolicyLoss,
  blurred: (row: number, column: number) => boolean = () => false,
): Compared {
  const [least, most] = [Math.min(expected.loss, last.loss), Math.max(expected.loss, last.loss)];
  const wrongWeights = input.mask.flatMap((row, r) =>
    row.flatMap((_, c) => {
      if (blurred(r, c)) return [];
      const want = expected.weights[r]?.[c] ?? 0;
      const off = Math.abs((observed.weights[r]?.[c] ?? 0) - want);
      return off <= Math.max(observed.zero, band.allowed(want)) ? [] : [[r, c] as const];
    }),
  );
  // Written so that NaN is wrong.
  const within = observed.loss >= least - band.allowed(least) && observed.loss <= most + band.allowed(most);
  return { expected, wrongLoss: !within, wrongWeights };
}

/**
 * Where a finite difference is too coarse a slope: at the corner of a clamp, and where a ratio makes k2 bend faster than its
 * curvature says. The loss itself is compared all the same.
 */
const coarse = ({ kl, klCoef }: LossSettings): boolean =>
  klCoef !== 0 && kl !== null && (kl.clamp !== null || (kl.ratioCorrection && kl.estimator === 'k2'));

/**
 * The coefficients of an undeclared KL that would explain the answer, `unit` being the loss with coefficient 1: it is
 * linear in it. From the value, which is exact also where weights are estimates, and from the token whose KL has the
 * largest slope, since the values of k1 can add up to 0. A negative one would push the policy away from the reference.
 */
function coefficients(input: PolicyLossInput, observed: Weights, unit: LossSettings): number[] {
  const [none, one] = [policyLoss(input, { ...unit, klCoef: 0 }), policyLoss(input, unit)];
  const flat = one.weights.flat().map((weight, at) => weight - (none.weights.flat()[at] ?? 0));
  const steepest = flat.reduce(
    (best, slope, at) => (Math.abs(slope) > Math.abs(flat[best] ?? 0) ? at : best),
    0,
  );
  const policy = none.weights.flat()[steepest] ?? 0;
  const own = observed.weights.flat()[steepest] ?? 0;
  return [
    (observed.loss - none.loss) / (one.loss - none.loss),
    (own - policy) / (flat[steepest] ?? 0),
  ].filter((solved) => Number.isFinite(solved) && solved > 0);
}

const klIsUnknown = ({ kl_coef, kl_placement }: Semantics): boolean =>
  kl_coef === undefined && kl_placement !== 'reward';

/** Of the loss, and of its KL term. */
const LOSS_ITEMS = [
  'loss_aggregation',
  'loss_norm',
  'loss_normalization',
  'clip_low',
  'clip_high',
  'dual_clip',
  'log_ratio_clamp',
  'policy_objective',
  'ratio_level',
  'sampling_correction',
  'sampling_correction_level',
  'sampling_correction_low',
  'sampling_correction_high',
  'kl_coef',
  'entropy_coef',
  'kl_estimator',
  'kl_clamp',
] as const;
const DECLARED = ['loss_aggregation', 'clip_low', 'clip_high'] as const;

const equals: Property<Tracks> = {
  ...base,
  id: 'loss/equals-the-declared-formula',
  title: 'Loss and gradient are the clipped objective plus KL, aggregated as declared',
  why: 'A denominator, clip or sign that is not the configured one is a different algorithm under the same name.',
  catches: [
    'LOSS-03',
    'LOSS-04',
    'LOSS-08',
    'LOSS-11',
    'PPO-01',
    'PPO-03',
    'KL-01',
    'KL-02',
    'KL-04',
    'KL-09',
    'KL-10',
    'ADV-08',
    'NUM-05',
  ],
  settles: LOSS_ITEMS,
  needs: [
    ({ semantics }) => {
      const missing = DECLARED.filter(
        (item) =>
          semantics[item] === undefined && !(semantics.ratio_level === 'none' && item.startsWith('clip_')),
      );
      return missing.length === 0
        ? undefined
        : `semantics.${missing.join(', semantics.')} ${missing.length === 1 ? 'is' : 'are'} not declared`;
    },
  ],
  given: ({ semantics: { clip_low: low = 0, clip_high: high = 0 } }) =>
    tracks({ avoid: [Math.log(Math.max(0, 1 - (low ?? Infinity))), Math.log(1 + (high ?? Infinity))] }),
  coverage: { ...coverage, 'beyond the clip range': 0.3 },
  async check(subject, drawn) {
    const args = whole(drawn);
    const input: PolicyLossInput = { ...args, mask: args.completion_mask };
    const band = bandOf(subject, args.completion_mask.flat().length);
    const observed = await lossWeights(subject, args);
    const unknown = klIsUnknown(subject.semantics);
    const variants = lossVariants(
      unknown ? { ...subject.semantics, kl_placement: 'loss', kl_coef: 1 } : subject.semantics,
      { straight: mayDescendStraight(subject) },
    );
    if (variants.length === 0)
      return discard(
        subject.semantics.kl_level === 'sequence'
          ? 'a KL of rows that is multiplied by a ratio has no known formula'
          : 'semantics.loss_norm is not declared, and token-sum-norm divides by it',
        'trainer',
      );
    if (observed.estimated && subject.semantics.policy_objective === 'cispo')
      return discard('CISPO holds the ratio without gradient, and the answer has no loss_weights', 'trainer');
    if (observed.estimated && subject.semantics.loss_is_descended === false)
      return discard('the loss is not what is descended, and the answer has no loss_weights', 'trainer');
    const fits: Fit[] = [];
    for (const settings of variants) {
      for (const dual of dualsOf(subject.semantics, input, settings)) {
        const unit = dual === undefined ? settings : { ...settings, dualClip: dual.from };
        const solved = unknown ? [0, ...coefficients(input, observed, unit)] : [settings.klCoef];
        for (const klCoef of solved) {
          const fit = fitOf(input, observed, band, { ...settings, klCoef }, dual);
          if (holds(fit)) return undefined;
          if (dual === undefined) fits.push(fit);
        }
      }
    }
    if (unknown && observed.estimated && variants.some((settings) => dualClips(input, settings).length > 1))
      return discard('a dual clip and a KL of unknown coefficient may both be in the loss', 'trainer');
    if (subject.semantics.ratio_level !== 'none' && variants.some((settings) => nearClip(input, settings)))
      return discard('a ratio stands on the edge of the clip range', 'trainer');
    const cause = await explained(subject, fits);
    return findingOf(subject, drawn, observed, band, fits, cause);
  },
};

/** A known mistake that explains loss and gradient of a rich case, in any of the ways that were tried. */
const explained = (subject: Subject, fits: readonly Fit[]) =>
  causeIn(async () => {
    const rich = richest(equals.given(subject));
    if (rich === undefined) return undefined;
    const args = whole(rich);
    const input: PolicyLossInput = { ...args, mask: args.completion_mask };
    const band = bandOf(subject, args.completion_mask.flat().length);
    const observed = await lossWeights(subject, args);
    return causeOf(
      fits.flatMap(({ settings }) => lossMistakes(input, settings, args.micro_batches ?? [])),
      (answer) => holds(against(input, observed, band, answer, answer)),
      fits.map(({ settings }) => policyLoss(input, settings)),
    );
  });

/** A dual clip that nobody declares may be there, with any constant in use. */
function dualsOf(
  { dual_clip: declared }: Semantics,
  input: PolicyLossInput,
  settings: LossSettings,
): (DualClip | undefined)[] {
  if (declared !== undefined || settings.objective === 'cispo' || settings.ratioLevel === 'none')
    return [undefined];
  return [undefined, ...dualClips(input, settings)];
}

function findingOf(
  subject: Subject,
  drawn: Tracks,
  observed: Weights,
  band: Band,
  fits: readonly Fit[],
  cause: Cause | undefined,
): Finding | undefined {
  const closest = [...fits].sort(
    (a, b) => Number(a.wrongLoss) - Number(b.wrongLoss) || a.wrongWeights.length - b.wrongWeights.length,
  )[0];
  if (closest === undefined) return undefined;
  const [first] = closest.wrongWeights;
  const { expected } = closest;
  const {
    loss_aggregation,
    clip_low,
    clip_high,
    kl_coef = 'undeclared',
    ratio_level: level,
  } = subject.semantics;
  const ratio = level === 'none' ? 'no ratio' : `clip ${clip_low}/${clip_high}`;
  const declared = `Declared: ${loss_aggregation}, ${ratio}, kl_coef ${kl_coef}.`;
  const answers = cause?.proven === true ? {} : answersOf(subject, 'loss', DECLARED);
  const note = observed.estimated ? `${declared} ${ESTIMATED_NOTE}` : declared;
  if (closest.wrongLoss || first === undefined) {
    return numberFinding({
      kind: 'loss',
      sentence: `The loss is ${show(observed.loss)}; the declared formula gives ${show(expected.loss)}.${causeWords(cause)}`,
      band,
      pairs: [{ where: 'loss', expected: expected.loss, observed: observed.loss }],
      ...answers,
      note,
    });
  }
  const [row, column] = first;
  const { strips } = weightFinding(subject, drawn, {
    kind: 'weight',
    row,
    column,
    sentence: '',
    observed,
    tracks: { expected: expected.weights[row] ?? [], observed: observed.weights[row] ?? [] },
  });
  return numberFinding({
    kind: 'weight',
    sentence: `The gradient of token ${column} of row ${row} is ${show(observed.weights[row]?.[column])}; the declared formula gives ${show(expected.weights[row]?.[column])}. The loss itself agrees.${causeWords(cause)}`,
    band,
    pairs: closest.wrongWeights.map(([r, c]) => ({
      where: `row ${r}, token ${c}`,
      expected: expected.weights[r]?.[c],
      observed: observed.weights[r]?.[c],
    })),
    ...(strips === undefined ? {} : { strips }),
    ...answers,
    note,
  });
}

export const lossFormula: readonly Property<Tracks>[] = [equals];
