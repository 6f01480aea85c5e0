// Legal ways to log how far an inference engine is from the trainer, and what to do about it: none of the measures is the one
// that the Python example has.
import type { Args, Ok } from '../../../src/index.ts';
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

const perToken =
  (of: (ratio: number) => number): Factors =>
  (logRatios) =>
    logRatios.map((logRatio) => of(Math.exp(logRatio)));
const perRow =
  (of: (ratio: number) => number, together: (values: readonly number[]) => number = sum): Factors =>
  (logRatios) =>
    logRatios.map(() => of(Math.exp(together(logRatios))));

/** Ways in use; the caps are theirs. */
const CORRECTIONS: Readonly<Record<string, Factors>> = {
  'truncated at 2': perToken((ratio) => Math.min(ratio, 2)),
  'truncated at 10': perToken((ratio) => Math.min(ratio, 10)),
  'masked outside 0.5 and 5': perToken((ratio) => (ratio > 0.5 && ratio < 5 ? ratio : 0)),
  'masked outside 0.99 and 1.01': perToken((ratio) => (ratio > 0.99 && ratio < 1.01 ? 1 : 0)),
  'clamped to both sides': perToken((ratio) => Math.min(Math.max(ratio, 0.1), 10)),
  'per row, truncated at 2': perRow((ratio) => Math.min(ratio, 2)),
  'per row, masked above 2': perRow((ratio) => (ratio > 2 ? 0 : ratio)),
  'per row, by its geometric mean, masked': perRow((ratio) => (ratio > 0.9 && ratio < 1.1 ? 1 : 0), mean),
};

/** A mean over tokens of the ratio, the advantage and the factor, without a gradient through the factor. */
function corrected(factors: Factors): (args: Args<'loss'>) => Ok<'loss'> {
  return (args) => {
    const { completion_mask: mask, old_logprobs: old, sampling_logprobs: engine } = args;
    const count = Math.max(1, sum(mask.flat()));
    const loss_weights = mask.map((row, b) => {
      const columns = row.flatMap((on, t) => (on === 1 ? [t] : []));
      const logRatios = columns.map((t) => (engine === undefined ? 0 : cell(old, b, t) - cell(engine, b, t)));
      const own = factors(logRatios);
      return row.map((on, t) => {
        const ratio = Math.exp(cell(args.logprobs, b, t) - cell(old, b, t));
        return on === 1 ? (-(args.advantages[b] ?? 0) * ratio * (own[columns.indexOf(t)] ?? 0)) / count : 0;
      });
    });
    return { loss: sum(loss_weights.flat()), loss_weights };
  };
}

const ENGINE = { can: { loss: { sampling_logprobs: true } } } as const;

export const besideEngines: readonly Legal[] = [
  legal('a difference of probabilities, logged', { loss: beside(ofProbabilities) }, ENGINE),
  legal('a mean factor between probabilities, logged', { loss: beside(factor) }, ENGINE),
  legal('the largest difference, logged, and far tokens left out', { loss: beside(largest, true) }, ENGINE),
  legal('k3 between engine and trainer, logged', { loss: beside(k3) }, ENGINE),
  legal('a difference of perplexities, logged', { loss: beside(ofPerplexities) }, ENGINE),
  ...Object.entries(CORRECTIONS).map(([name, factors]) =>
    legal(`an engine, corrected: ${name}`, { loss: corrected(factors) }, ENGINE),
  ),
];
