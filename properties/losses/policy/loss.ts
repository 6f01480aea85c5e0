// The policy loss. Never the scalar alone: a GRPO loss is legally 0 at the first step. What counts is which tokens
// carry gradient, and in which direction. The declared formula is in loss-formula.ts.
import {
  type Args,
  ESTIMATED_NOTE,
  type Finding,
  type LayOptions,
  layTracks,
  lossWeights,
  type Matrix,
  type Property,
  type Semantics,
  type Subject,
  show,
  stripOf,
  type Tracks,
  trackLabels,
  tracks,
  type Weights,
} from '../../../src/index.ts';

export const base = { stage: 'loss', level: 'must', ops: ['loss'], labels: trackLabels } as const;
export const coverage = {
  'several rows': 0.3,
  'unequal completions': 0.3,
  'as many rows as columns': 0.1,
};

export const argsOf = (drawn: Tracks, options: LayOptions = {}): Args<'loss'> => {
  const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, advantages, micro_batches } =
    layTracks(drawn, options);
  return { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, advantages, micro_batches };
};

export const whole = (drawn: Tracks, options: LayOptions = {}): Args<'loss'> =>
  argsOf(drawn, { ...options, whole: true });

/** A finding about one token's weight, with a strip of its row. */
export function weightFinding(
  subject: Subject,
  drawn: Tracks,
  about: {
    readonly kind: string;
    readonly row: number;
    readonly column: number;
    readonly sentence: string;
    readonly observed: Weights;
    readonly tracks?: Record<string, readonly (number | undefined)[]>;
  },
): Finding {
  const { kind, row, column, sentence, observed } = about;
  const laid = layTracks(drawn);
  return {
    kind,
    sentence,
    strips: [
      stripOf(subject, {
        row,
        ids: laid.ids[row] ?? [],
        roles: laid.roles[row] ?? [],
        tracks: {
          mask: laid.completion_mask[row] ?? [],
          ...(about.tracks ?? { 'dL/d logprob': observed.weights[row] ?? [] }),
        },
        marks: [column],
      }),
    ],
    ...(observed.estimated ? { note: ESTIMATED_NOTE } : {}),
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

/** A k1 term in the loss has the constant gradient beta on every trained token, and can cancel an advantage. */
const k1MayBeInLoss = ({ kl_estimator, kl_placement, kl_coef }: Semantics): boolean =>
  kl_placement !== 'reward' && (kl_estimator ?? 'k1') === 'k1' && kl_coef !== 0;

/**
 * Per token w(A) - w(-A), half of it: on policy what is linear in the advantage, without the gradient that a KL term
 * has whatever the advantage is.
 */
export async function advantagePart(
  subject: Subject,
  args: Args<'loss'>,
): Promise<{ ahead: Weights; part: (row: number, column: number) => number; zero: number }> {
  const ahead = await lossWeights(subject, args);
  // + 0, because -0 is another number on the wire.
  const back = await lossWeights(subject, { ...args, advantages: args.advantages.map((a) => -a + 0) });
  return {
    ahead,
    part: (row, column) => ((ahead.weights[row]?.[column] ?? 0) - (back.weights[row]?.[column] ?? 0)) / 2,
    zero: Math.max(ahead.zero, back.zero),
  };
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
    const observed = await lossWeights(subject, args);
    const { weights, zero } = observed;
    const constant = k1MayBeInLoss(subject.semantics);
    const found = firstToken(args.completion_mask, (row, column, trained) => {
      const weight = weights[row]?.[column] ?? 0;
      if (!trained)
        return Math.abs(weight) <= zero
          ? undefined
          : `is not trained by the mask, but has gradient ${show(weight)}`;
      // A constant may stand on any trained token, and cancel its advantage; the property of directions sees through it.
      if (constant) return Number.isFinite(weight) ? undefined : `has gradient ${weight}`;
      const advantage = args.advantages[row] ?? 0;
      if (advantage === 0)
        return Math.abs(weight) <= zero
          ? undefined
          : `has gradient ${show(weight)}, although the advantage of its row is 0`;
      return Math.abs(weight) > zero && Number.isFinite(weight)
        ? undefined
        : `has gradient ${weight}, although the mask trains it and its row has advantage ${advantage}`;
    });
    if (found === undefined) return undefined;
    const { row, column, why } = found;
    const sentence = `Token ${column} of row ${row} ${why}.`;
    return weightFinding(subject, drawn, { kind: why.slice(0, 12), row, column, sentence, observed });
  },
};

const direction: Property<Tracks> = {
  ...base,
  id: 'loss/on-policy-gradient-follows-the-advantage',
  title: 'On policy, the loss falls when a token of a good answer becomes likelier, and rises for a bad one',
  why: 'A sign lost in the objective trains the policy away from what is rewarded.',
  catches: ['PPO-03', 'KL-01', 'PPO-04', 'ZL-02'],
  given: () => tracks({ onPolicy: true, someAdvantage: true }),
  coverage: { ...coverage, 'negative advantage': 0.2 },
  async check(subject, drawn) {
    const args = whole(drawn);
    const { ahead, part, zero } = await advantagePart(subject, args);
    const found = firstToken(args.completion_mask, (row, column, trained) => {
      const advantage = args.advantages[row] ?? 0;
      if (!trained || advantage === 0) return undefined;
      const weight = part(row, column);
      if (!(Math.abs(weight) > zero)) return `is ${show(weight)}, none at all`;
      return advantage * weight < 0 ? undefined : `is ${show(weight)}; the two must have opposite signs`;
    });
    if (found === undefined) return undefined;
    const { row, column, why } = found;
    return weightFinding(subject, drawn, {
      kind: why.endsWith('all') ? 'none' : 'sign',
      row,
      column,
      sentence: `Token ${column} of row ${row} has advantage ${args.advantages[row]}, and what its gradient owes to the advantage, (dL/d logprob with advantages A - with -A) / 2, ${why}.`,
      observed: ahead,
    });
  },
};

export const lossProperties: readonly Property<Tracks>[] = [support, direction];
