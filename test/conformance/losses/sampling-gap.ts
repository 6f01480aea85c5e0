// Legal ways to log how far an inference engine is from the trainer, and what to do about it: none of the measures is the one
// that the Python example has.
import type { Args, Ok, Semantics } from '../../../src/index.ts';
import { cell, type Legal, legal, mean, sum } from '../legal.ts';

/** What the trainer and the engine say of each trained token, row by row. */
type Pairs = readonly (readonly (readonly [trainer: number, engine: number])[])[];

type Measure = (rows: Pairs) => number;

const CAP = 1.5;

/** A mean over tokens of the ratio times the advantage; `masked`: tokens that are too far from the engine have no weight. */
function beside(measure: Measure, masked = false): (args: Args<'loss'>) => Ok<'loss'> {
  return (args) => {
    const { completion_mask: mask, old_logprobs: old, sampling_logprobs: engine } = args;
    const count = Math.max(1, sum(mask.flat()));
    let loss = 0;
    const loss_weights = mask.map((row, b) =>
      row.map((on, t) => {
        if (on !== 1) return 0;
        const far = engine !== undefined && Math.exp(Math.abs(cell(old, b, t) - cell(engine, b, t))) > CAP;
        const weight = masked && far ? 0 : -(args.advantages[b] ?? 0) / count;
        const ratio = Math.exp(cell(args.logprobs, b, t) - cell(old, b, t));
        loss += weight * ratio;
        return weight * ratio;
      }),
    );
    if (engine === undefined) return { loss, loss_weights };
    const pairs = mask.map((row, b) =>
      row.flatMap((on, t) => (on === 1 ? [[cell(old, b, t), cell(engine, b, t)] as const] : [])),
    );
    return { loss, loss_weights, metrics: { sampling_gap: measure(pairs) } };
  };
}

const ofProbabilities: Measure = (rows) =>
  mean(rows.flat().map(([p, q]) => Math.abs(Math.exp(p) - Math.exp(q))));
const factor: Measure = (rows) => mean(rows.flat().map(([p, q]) => Math.exp(Math.abs(p - q))));
const largest: Measure = (rows) => Math.max(...rows.flat().map(([p, q]) => Math.abs(p - q)));
const k3: Measure = (rows) => mean(rows.flat().map(([p, q]) => Math.exp(p - q) - 1 - (p - q)));
const ofPerplexities: Measure = (rows) =>
  mean(rows.filter((row) => row.length > 0).map((row) => Math.abs(mean(row.map(([p, q]) => p - q)))));

/** Factors of a row's tokens, from the log-ratios of trainer and engine. */
type Factors = (logRatios: readonly number[]) => readonly number[];

export const perToken =
  (of: (ratio: number) => number): Factors =>
  (logRatios) =>
    logRatios.map((logRatio) => of(Math.exp(logRatio)));
const perRow =
  (of: (ratio: number) => number, together: (values: readonly number[]) => number = sum): Factors =>
  (logRatios) =>
    logRatios.map(() => of(Math.exp(together(logRatios))));

interface Way {
  readonly factors: Factors;
  readonly is?: Semantics;
}

/** `level` and caps, as a declaration. */
const correctedBy = (
  sampling_correction: NonNullable<Semantics['sampling_correction']>,
  sampling_correction_level: NonNullable<Semantics['sampling_correction_level']>,
  sampling_correction_low: number | null,
  sampling_correction_high: number | null,
): Semantics => ({
  sampling_correction,
  sampling_correction_level,
  sampling_correction_low,
  sampling_correction_high,
});

/** Ways in use; the caps are theirs. */
const CORRECTIONS: Readonly<Record<string, Way>> = {
  'not at all': { factors: perToken(() => 1), is: { sampling_correction: 'none' } },
  'truncated at 2': {
    factors: perToken((ratio) => Math.min(ratio, 2)),
    is: correctedBy('truncated', 'token', null, 2),
  },
  'truncated at 10': {
    factors: perToken((ratio) => Math.min(ratio, 10)),
    is: correctedBy('truncated', 'token', null, 10),
  },
  'masked outside 0.5 and 5': {
    factors: perToken((ratio) => (ratio > 0.5 && ratio < 5 ? ratio : 0)),
    is: correctedBy('masked', 'token', 0.5, 5),
  },
  'masked outside 0.99 and 1.01': {
    factors: perToken((ratio) => (ratio > 0.99 && ratio < 1.01 ? 1 : 0)),
    is: correctedBy('filtered', 'token', 0.99, 1.01),
  },
  'clamped to both sides': {
    factors: perToken((ratio) => Math.min(Math.max(ratio, 0.1), 10)),
    is: correctedBy('truncated', 'token', 0.1, 10),
  },
  'per row, truncated at 2': {
    factors: perRow((ratio) => Math.min(ratio, 2)),
    is: correctedBy('truncated', 'sequence', null, 2),
  },
  'per row, masked above 2': {
    factors: perRow((ratio) => (ratio > 2 ? 0 : ratio)),
    is: correctedBy('masked', 'sequence', null, 2),
  },
  'per row, by its geometric mean, masked': {
    factors: perRow((ratio) => (ratio > 0.9 && ratio < 1.1 ? 1 : 0), mean),
    is: correctedBy('filtered', 'sequence-mean', 0.9, 1.1),
  },
  'per row, by its geometric mean, truncated at 3': {
    factors: perRow((ratio) => Math.min(ratio, 3), mean),
    is: correctedBy('truncated', 'sequence-mean', null, 3),
  },
  // Masked by the row and truncated by the token: a combination that has no name of its own.
  'per token, in rows near the engine': {
    factors: (logRatios) => {
      const near = Math.abs(mean(logRatios)) < Math.log(2);
      return logRatios.map((logRatio) => (near ? Math.min(Math.exp(logRatio), 2) : 0));
    },
  },
  // Per decision: what was sampled before a token counts for it, what came after does not.
  'per token, by the product of the tokens up to it': {
    factors: (logRatios) => logRatios.map((_, at) => Math.min(Math.exp(sum(logRatios.slice(0, at + 1))), 3)),
  },
  'per row, by the mean of its ratios': {
    factors: (logRatios) => logRatios.map(() => Math.min(mean(logRatios.map(Math.exp)), 3)),
  },
};

/** A mean over tokens of the ratio, the advantage and the factor, without a gradient through the factor. */
export function corrected({ factors }: Way, onlyKept = false): (args: Args<'loss'>) => Ok<'loss'> {
  return (args) => {
    const { completion_mask: mask, old_logprobs: old, sampling_logprobs: engine } = args;
    const all = mask.map((row, b) => {
      const columns = row.flatMap((on, t) => (on === 1 ? [t] : []));
      const logRatios = columns.map((t) => (engine === undefined ? 0 : cell(old, b, t) - cell(engine, b, t)));
      const own = factors(logRatios);
      return row.map((on, t) => (on === 1 ? (own[columns.indexOf(t)] ?? 0) : 0));
    });
    const counted = onlyKept ? all.flat().filter((factor) => factor !== 0).length : sum(mask.flat());
    const loss_weights = all.map((row, b) =>
      row.map((factor, t) => {
        const ratio = Math.exp(cell(args.logprobs, b, t) - cell(old, b, t));
        return factor === 0 ? 0 : (-(args.advantages[b] ?? 0) * ratio * factor) / Math.max(1, counted);
      }),
    );
    return { loss: sum(loss_weights.flat()), loss_weights };
  };
}

/** Truncated at 2 and divided by the mean over the batch, so that the step does not become smaller with the gap. */
function normalised(args: Args<'loss'>): Ok<'loss'> {
  const { completion_mask: mask, old_logprobs: old, sampling_logprobs: engine } = args;
  const factors = mask.map((row, b) =>
    row.map((on, t) =>
      on === 1 && engine !== undefined ? Math.min(Math.exp(cell(old, b, t) - cell(engine, b, t)), 2) : on,
    ),
  );
  const total = sum(factors.flat());
  const loss_weights = factors.map((row, b) =>
    row.map((factor, t) =>
      factor === 0
        ? 0
        : (-(args.advantages[b] ?? 0) * factor * Math.exp(cell(args.logprobs, b, t) - cell(old, b, t))) /
          total,
    ),
  );
  return { loss: sum(loss_weights.flat()), loss_weights };
}

export const ENGINE = { can: { loss: { sampling_logprobs: true } } } as const;

export const besideEngines: readonly Legal[] = [
  legal('a difference of probabilities, logged', { loss: beside(ofProbabilities) }, ENGINE),
  legal('a mean factor between probabilities, logged', { loss: beside(factor) }, ENGINE),
  legal('the largest difference, logged, and far tokens left out', { loss: beside(largest, true) }, ENGINE),
  legal('k3 between engine and trainer, logged', { loss: beside(k3) }, ENGINE),
  legal('a difference of perplexities, logged', { loss: beside(ofPerplexities) }, ENGINE),
  ...Object.entries(CORRECTIONS).map(([name, way]) =>
    legal(
      `an engine, corrected: ${name}`,
      { loss: corrected(way) },
      { ...ENGINE, ...(way.is === undefined ? {} : { semantics: way.is }) },
    ),
  ),
  legal('an engine, corrected by weights whose mean is 1', { loss: normalised }, ENGINE),
  legal(
    'an engine, corrected in a way of its own, declared',
    { loss: corrected({ factors: perToken((ratio) => (ratio > 1 ? 1 + Math.log(ratio) : ratio)) }) },
    { ...ENGINE, semantics: { sampling_correction: 'own' } },
  ),
  legal(
    'an engine, corrected: a mean over the tokens that are not masked',
    { loss: corrected({ factors: perToken((ratio) => (ratio > 0.5 && ratio < 2 ? 1 : 0)) }, true) },
    { ...ENGINE, semantics: correctedBy('filtered', 'token', 0.5, 2) },
  ),
];
