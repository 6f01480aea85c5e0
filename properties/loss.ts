// The policy loss. Never the scalar alone: a GRPO loss is legally 0 at the first step. What counts is which tokens
// carry gradient, that it does not depend on padding, row order or micro-batches, and the declared formula.
import {
  type Args,
  bandOf,
  discard,
  type Finding,
  type LayOptions,
  layTracks,
  lossVariants,
  lossWeights,
  type Matrix,
  numberFinding,
  type Property,
  policyLoss,
  type Subject,
  show,
  stripOf,
  type Tracks,
  trackLabels,
  tracks,
} from '../src/index.ts';

export const base = { stage: 'loss', level: 'must', ops: ['loss'], labels: trackLabels } as const;
export const coverage = { 'several rows': 0.3, 'unequal completions': 0.3 };

export const argsOf = (drawn: Tracks, options: LayOptions = {}): Args<'loss'> => {
  const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, advantages, micro_batches } =
    layTracks(drawn, options);
  return { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, advantages, micro_batches };
};

export const whole = (drawn: Tracks, options: LayOptions = {}): Args<'loss'> =>
  argsOf(drawn, { ...options, whole: true });

/** A strip of weights for one row. */
function weightFinding(
  subject: Subject,
  drawn: Tracks,
  kind: string,
  row: number,
  column: number,
  sentence: string,
  tracksShown: Record<string, readonly (number | undefined)[]>,
): Finding {
  const laid = layTracks(drawn);
  return {
    kind,
    sentence,
    strips: [
      stripOf(subject, {
        row,
        ids: laid.ids[row] ?? [],
        roles: laid.roles[row] ?? [],
        tracks: { mask: laid.completion_mask[row] ?? [], ...tracksShown },
        marks: [column],
      }),
    ],
  };
}

/** The first token for which `wrong` says why, over all rows. */
export function firstToken(
  mask: Matrix,
  wrong: (row: number, column: number, trained: boolean) => string | undefined,
): { row: number; column: number; why: string } | undefined {
  for (const [row, values] of mask.entries()) {
    for (const [column, value] of values.entries()) {
      const why = wrong(row, column, value === 1);
      if (why !== undefined) return { row, column, why };
    }
  }
  return undefined;
}

const support: Property<Tracks> = {
  ...base,
  id: 'loss/gradient-exactly-where-mask-and-advantage-are',
  title: 'On policy, a token has gradient exactly where the mask is 1 and its row has an advantage',
  why: 'Gradient elsewhere trains prompts or padding; none where it should be is a run that learns nothing and logs a loss.',
  catches: ['MSK-01', 'MSK-02', 'MSK-04', 'ADV-09', 'ZL-02', 'KL-04', 'PPO-04'],
  given: () => tracks({ onPolicy: true }),
  coverage: { ...coverage, 'zero advantage': 0.1 },
  async check(subject, drawn) {
    const args = whole(drawn);
    const { weights, zero } = await lossWeights(subject, args);
    const at = (row: number, column: number): number => weights[row]?.[column] ?? 0;
    // A k1 term in the loss has the constant gradient beta on every trained token.
    const constant =
      args.advantages.some((advantage) => advantage === 0) && subject.semantics.kl_estimator === 'k1';
    const found = firstToken(args.completion_mask, (row, column, trained) => {
      const weight = at(row, column);
      if (!trained)
        return weight === 0 || Math.abs(weight) <= zero
          ? undefined
          : 'is not trained by the mask, but has gradient';
      const advantage = args.advantages[row] ?? 0;
      if (advantage === 0)
        return Math.abs(weight) <= zero || constant || subject.semantics.kl_estimator === undefined
          ? undefined
          : 'has gradient, although the advantage of its row is 0';
      return Math.abs(weight) > zero && Number.isFinite(weight)
        ? undefined
        : `has gradient ${weight}, although the mask trains it and its row has advantage ${advantage}`;
    });
    if (found === undefined) return undefined;
    return weightFinding(
      subject,
      drawn,
      found.why.slice(0, 12),
      found.row,
      found.column,
      `Token ${found.column} of row ${found.row} ${found.why}${found.why.endsWith('gradient') ? ` ${show(at(found.row, found.column))}` : ''}.`,
      {
        'dL/d logprob': weights[found.row] ?? [],
      },
    );
  },
};

const direction: Property<Tracks> = {
  ...base,
  id: 'loss/on-policy-gradient-follows-the-advantage',
  title: 'On policy, the loss falls when a token of a good answer becomes likelier, and rises for a bad one',
  why: 'A sign lost in the objective trains the policy away from what is rewarded.',
  catches: ['PPO-03', 'KL-01', 'PPO-04'],
  given: () => tracks({ onPolicy: true }),
  coverage: { ...coverage, 'negative advantage': 0.2 },
  async check(subject, drawn) {
    // A k1 term adds beta to every weight; it can turn the sign of a small advantage.
    if ((subject.semantics.kl_estimator ?? 'k1') === 'k1' && (subject.semantics.kl_coef ?? 1) !== 0)
      return discard('a k1 term in the loss has a gradient of its own');
    const args = whole(drawn);
    const { weights, zero } = await lossWeights(subject, args);
    const found = firstToken(args.completion_mask, (row, column, trained) => {
      const weight = weights[row]?.[column] ?? 0;
      const advantage = args.advantages[row] ?? 0;
      return trained && advantage * weight > 0 && Math.abs(weight) > zero
        ? `dL/d logprob is ${show(weight)} with advantage ${advantage}`
        : undefined;
    });
    if (found === undefined) return undefined;
    return weightFinding(
      subject,
      drawn,
      'sign',
      found.row,
      found.column,
      `Token ${found.column} of row ${found.row}: ${found.why}; the two must have opposite signs.`,
      { 'dL/d logprob': weights[found.row] ?? [] },
    );
  },
};

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
  needs: [
    ({ semantics }) => {
      const missing = (['loss_aggregation', 'clip_low', 'clip_high', 'kl_coef'] as const).filter(
        (item) => semantics[item] === undefined,
      );
      return missing.length === 0
        ? undefined
        : `semantics.${missing.join(', semantics.')} ${missing.length === 1 ? 'is' : 'are'} not declared`;
    },
  ],
  given: () => tracks(),
  coverage: { ...coverage, 'beyond the clip range': 0.3 },
  async check(subject, drawn) {
    const args = whole(drawn);
    if (nearClip(args, subject.semantics.clip_low ?? 0, subject.semantics.clip_high ?? 0))
      return discard('a ratio stands on the edge of the clip range');
    const observed = await lossWeights(subject, args);
    const input = { ...args, mask: args.completion_mask };
    const band = bandOf(subject, args.completion_mask.flat().length);
    const variants = lossVariants(subject.semantics);
    if (variants.length === 0)
      return discard('semantics.loss_norm is not declared, and token-sum-norm divides by it');
    const fits = variants.map((settings) => {
      const expected = policyLoss(input, settings);
      const wrongWeights = args.completion_mask.flatMap((row, r) =>
        row.flatMap((_, c) =>
          Math.abs((observed.weights[r]?.[c] ?? 0) - (expected.weights[r]?.[c] ?? 0)) <=
          Math.max(observed.zero, band.allowed(expected.weights[r]?.[c] ?? 0))
            ? []
            : [[r, c] as const],
        ),
      );
      return { expected, wrongLoss: !band.close(observed.loss, expected.loss), wrongWeights };
    });
    if (fits.some(({ wrongLoss, wrongWeights }) => !wrongLoss && wrongWeights.length === 0)) return undefined;
    if (dualClipMayBind(args)) return discard('a dual clip, which no declaration names, may bind here');
    const closest = fits.sort(
      (a, b) => Number(a.wrongLoss) - Number(b.wrongLoss) || a.wrongWeights.length - b.wrongWeights.length,
    )[0];
    if (closest === undefined) return undefined;
    const [first] = closest.wrongWeights;
    const { expected } = closest;
    const note = `Declared: ${subject.semantics.loss_aggregation}, clip ${subject.semantics.clip_low}/${subject.semantics.clip_high}, kl_coef ${subject.semantics.kl_coef}.`;
    if (closest.wrongLoss || first === undefined) {
      return numberFinding({
        kind: 'loss',
        sentence: `The loss is ${show(observed.loss)}; the declared formula gives ${show(expected.loss)}.`,
        band,
        pairs: [{ where: 'loss', expected: expected.loss, observed: observed.loss }],
        note,
      });
    }
    const [row, column] = first;
    const strip = weightFinding(subject, drawn, 'weight', row, column, '', {
      expected: expected.weights[row] ?? [],
      observed: observed.weights[row] ?? [],
    }).strips;
    return numberFinding({
      kind: 'weight',
      sentence: `The gradient of token ${column} of row ${row} is ${show(observed.weights[row]?.[column])}; the declared formula gives ${show(expected.weights[row]?.[column])}. The loss itself agrees.`,
      band,
      pairs: closest.wrongWeights.map(([r, c]) => ({
        where: `row ${r}, token ${c}`,
        expected: expected.weights[r]?.[c],
        observed: observed.weights[r]?.[c],
      })),
      ...(strip === undefined ? {} : { strips: strip }),
      note,
    });
  },
};

/** Within this of the clip range's edge, a finite difference or float32 may fall on either side. */
const EDGE = 2 / 64;

function nearClip(args: Args<'loss'>, low: number, high: number): boolean {
  return args.logprobs.some((row, r) =>
    row.some((value, c) => {
      const logRatio = value - (args.old_logprobs[r]?.[c] ?? 0);
      return (
        args.completion_mask[r]?.[c] === 1 &&
        [Math.log(1 - low), Math.log(1 + high)].some((edge) => Math.abs(logRatio - edge) < EDGE)
      );
    }),
  );
}

/** The least bound in use on the ratio of a bad answer (Ye et al. 2020, dual clip): verl's default, and always on there. */
const DUAL_CLIP = 3;

/** Such a trainer stops correcting a bad answer that has become this much likelier. It is a choice, not a mistake. */
function dualClipMayBind(args: Args<'loss'>): boolean {
  return args.logprobs.some((row, r) =>
    row.some(
      (value, c) =>
        args.completion_mask[r]?.[c] === 1 &&
        (args.advantages[r] ?? 0) < 0 &&
        value - (args.old_logprobs[r]?.[c] ?? 0) > Math.log(DUAL_CLIP) - EDGE,
    ),
  );
}

export const lossProperties: readonly Property<Tracks>[] = [support, direction, equals];
