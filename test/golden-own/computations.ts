// What the harness computes for a golden entry's input: one function a name, the same for worked examples and for torch.
import { cpuKernel, numbersOf } from '../../src/kernel/index.ts';
import * as reference from '../../src/reference/index.ts';
import type { Cube, KlEstimator, Matrix } from '../../src/vocabulary.ts';
import type { Fields } from './files.ts';

type Of<Input> = (input: Input) => Fields;

interface Scored {
  readonly logits: Matrix;
  readonly temperature: number;
}
interface Pieces {
  readonly logprobs: Matrix;
  readonly ref_logprobs: Matrix;
  readonly old_logprobs: Matrix;
  readonly variant: reference.KlVariant;
}

const SCHULMANS: readonly KlEstimator[] = ['k1', 'k2', 'k3'];
/** No clamp, no correction: the estimator as its author wrote it. */
const PLAIN = { clamp: null, clampWhere: null, ratioCorrection: false } as const;

const byName = <T>(of: (name: KlEstimator) => T): Record<string, T> =>
  Object.fromEntries(SCHULMANS.map((name) => [name, of(name)]));

const klEstimators: Of<{ logprob: number; ref: number }> = ({ logprob, ref }) =>
  byName((name) => reference.klOf(logprob, ref, name));

const k3Slope: Of<{ logprob: number; ref: number }> = ({ logprob, ref }) => ({
  slope: reference.klTerm(logprob, ref, logprob, { estimator: 'k3', ...PLAIN }).slope,
});

/** Beyond this many standard deviations nothing of a normal density is left in float64, whatever it is multiplied by here. */
const FARTHEST = 24;
/** The trapezoidal rule on a normal density errs by exp(-2 (pi / step)^2): nothing, at this step. */
const STEP = 1 / 32;

/** Moments of the estimators under q = N(0, 1) and p = N(mean, 1), by integrating the reference's own function. */
const klEstimatorMoments: Of<{ mean: number }> = ({ mean }) => {
  const log = (x: number): number => -(x ** 2) / 2 - Math.log(2 * Math.PI) / 2;
  const points = Array.from({ length: (2 * FARTHEST) / STEP + 1 }, (_, i) => i * STEP - FARTHEST);
  const expected = (of: (x: number) => number): number =>
    points.reduce((sum, x) => sum + Math.exp(log(x)) * of(x) * STEP, 0);
  const truth = mean ** 2 / 2;
  return byName((name) => {
    const value = (x: number): number => reference.klOf(log(x), log(x - mean), name);
    const centre = expected(value);
    const spread = expected((x) => (value(x) - centre) ** 2);
    return { bias_over_true: (centre - truth) / truth, std_over_true: Math.sqrt(spread) / truth };
  });
};

const klEnumerated: Of<{ policy: number[]; reference: number[] }> = (input) => {
  const [policy, other] = [input.policy.map(Math.log), input.reference.map(Math.log)];
  const [logps, refs] = [policy, other].map((row) => reference.logSoftmax(row));
  const meanOf = (name: KlEstimator): number =>
    input.policy.reduce(
      (sum, p, id) => sum + p * reference.klOf(logps?.[id] ?? Number.NaN, refs?.[id] ?? Number.NaN, name),
      0,
    );
  return {
    kl: reference.fullKlOf(policy, other),
    entropy: reference.entropyOf(policy),
    mean: byName(meanOf),
  };
};

const klPerToken: Of<Pieces> = ({ logprobs, ref_logprobs: ref, old_logprobs: old, variant }) => ({
  kl: reference.klPerToken(logprobs, ref, old, variant),
  slopes: logprobs.map((row, b) =>
    row.map((logprob, t) => reference.klTerm(logprob, ref[b]?.[t] ?? NaN, old[b]?.[t] ?? NaN, variant).slope),
  ),
});

export interface TwoPolicies {
  readonly policy: Matrix;
  readonly reference: Matrix;
  readonly temperature: number;
}
const fullKl: Of<TwoPolicies> = ({ policy, reference: other, temperature }) => {
  const scaled = (row: readonly number[] = []): number[] => row.map((z) => z / temperature);
  return {
    kl: policy.map((row, at) => reference.fullKlOf(scaled(row), scaled(other[at]))),
    entropy: policy.map((row) => reference.entropyOf(scaled(row))),
  };
};

/** The same by the kernel, which sums over the vocabulary in another way. */
export async function kernelKl({ policy, reference: other, temperature }: TwoPolicies): Promise<Fields> {
  const kernel = cpuKernel({ threads: 1 });
  try {
    const rows = (matrix: Matrix) => ({ dtype: 'float64' as const, data: Float64Array.from(matrix.flat()) });
    const pieces = await kernel.rows({
      policy: rows(policy),
      reference: rows(other),
      targets: new Int32Array(policy.length),
      vocab: policy[0]?.length ?? 0,
      temperature,
    });
    const { kl, entropy } = numbersOf(pieces);
    return { kl: [...kl], entropy: [...entropy] };
  } finally {
    await kernel.close();
  }
}

/** One row of logits, or several: the answer has the same shape. */
const logSoftmax: Of<Scored | { logits: number[]; temperature: number }> = ({ logits, temperature }) => {
  const each = <T>(of: (row: number[]) => T): T | T[] => {
    const scaled = (row: readonly number[]): T => of(row.map((z) => z / temperature));
    return isMatrix(logits) ? logits.map(scaled) : scaled(logits);
  };
  return {
    log_sum_exp: each(reference.logSumExp),
    log_softmax: each(reference.logSoftmax),
    entropy: each(reference.entropyOf),
  };
};

const isMatrix = (value: Matrix | number[]): value is Matrix => Array.isArray(value[0]);

const groupAdvantages: Of<{
  rewards: number[];
  group_ids: number[];
  variant: reference.AdvantageVariant;
}> = ({ rewards, group_ids: groups, variant }) => ({
  advantages: reference.groupAdvantages(rewards, groups, variant),
});

const gae: Of<{ rewards: Matrix; values: Matrix; mask: Matrix; gamma: number; lam: number }> = (given) => ({
  advantages: reference.gaeAdvantages(given.rewards, given.values, given.mask, given.gamma, given.lam),
});

/** An epsilon under the root leaves sqrt(variance / (variance + epsilon)) of the deviation 1. */
const whitening: Of<{ values: Matrix; mask: Matrix; variant: reference.WhitenVariant; epsilon: number }> = ({
  values,
  mask,
  variant,
  epsilon,
}) => {
  const { deviation } = reference.moments(values, mask, variant.ddof);
  const shrink = deviation / Math.sqrt(deviation ** 2 + epsilon);
  return { whitened: reference.whitened(values, mask, variant, shrink) };
};

const klReward: Of<{
  scores: number[];
  logprobs: Matrix;
  ref_logprobs: Matrix;
  mask: Matrix;
  beta: number;
}> = ({ scores, logprobs, ref_logprobs: ref, mask, beta }) => {
  const kl = reference.klPerToken(logprobs, ref, logprobs, { estimator: 'k1', ...PLAIN });
  const processRewards = mask.map((row) => row.map(() => 0));
  return {
    rewards: scores.map((_, row) =>
      reference.rowReward(row, { scores, processRewards, kl, mask, klCoef: beta }),
    ),
  };
};

const preferenceLoss: Of<{ pair: reference.PairNumbers; settings: reference.PreferenceSettings }> = (
  given,
) => ({
  margin: reference.marginOf(given.pair, given.settings),
  loss: reference.preferenceLoss(given.pair, given.settings),
  slope: reference.preferenceSlopeAt(reference.marginOf(given.pair, given.settings), given.settings),
});

const implicitRewards: typeof preferenceLoss = (given) => {
  const { pair, settings } = given;
  const { beta, length } = settings;
  return {
    ...preferenceLoss(given),
    rewards: {
      chosen: beta * reference.scoreOf(pair.chosen, pair.refChosen, length),
      rejected: beta * reference.scoreOf(pair.rejected, pair.refRejected, length),
    },
  };
};

type Drawn = { logits: number[]; temperature: number; top_k: number; top_p: number; never?: number[] };
const sampling: Of<Drawn> = ({ logits, temperature, top_k: topK, top_p: topP, never = [] }) => ({
  logprobs: reference.samplingLogprobs(
    logits,
    { temperature, topK, topP, never },
    { temperature: 'first', topP: 'after top-k' },
  ),
});

const penalties: Of<{ logits: number[] } & Parameters<typeof reference.penalize>[1]> = ({
  logits,
  ...options
}) => ({
  logits: reference.penalize(logits, options),
});

const half: Of<{ dtype: reference.HalfType; bits: number[] }> = ({ dtype, bits }) => ({
  values: bits.map((each) => reference.halfValues(dtype)[each]),
});

const table = {
  'kl-estimators': klEstimators,
  'k3-slope': k3Slope,
  'kl-estimator-moments': klEstimatorMoments,
  'kl-enumerated': klEnumerated,
  'kl-per-token': klPerToken,
  'full-kl': fullKl,
  'policy-loss': ({
    settings,
    ...input
  }: reference.PolicyLossInput & { settings: reference.LossSettings }) => ({
    ...reference.policyLoss(input, settings),
  }),
  'value-loss': ({
    settings,
    ...input
  }: reference.ValueLossInput & { settings: reference.ValueLossSettings }) => ({
    ...reference.valueLoss(input, settings),
  }),
  'preference-loss': preferenceLoss,
  'implicit-rewards': implicitRewards,
  'group-advantages': groupAdvantages,
  gae,
  whitening,
  'soft-overlong': ({ length, limit, buffer }: { length: number; limit: number; buffer: number }) => ({
    penalty: reference.softOverlong(length, limit, buffer),
  }),
  'kl-reward': klReward,
  'log-softmax': logSoftmax,
  entropy: ({ logits }: { logits: number[] }) => ({ entropy: reference.entropyOf(logits) }),
  logprobs: ({ logits, ids, temperature }: { logits: Cube; ids: Matrix; temperature: number }) => ({
    logprobs: reference.logprobsOf(logits, ids, temperature),
  }),
  'sft-loss': ({ logits, labels }: { logits: Cube; labels: Matrix }) => ({
    ...reference.sftLoss(logits, labels),
  }),
  sampling,
  penalties,
  half,
};

/** By the name that an entry gives in `compute`. The input's shape is the entry's own; a wrong one throws or differs. */
export const COMPUTATIONS = table as unknown as Readonly<Record<string, (input: Fields) => Fields>>;
