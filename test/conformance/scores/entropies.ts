// Legal entropies.
import { type Args, logSoftmax, type Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, repeat, sum } from '../legal.ts';

const entropyOf = (row: readonly number[]): number =>
  -sum(logSoftmax(row).map((value) => (value === -Infinity ? 0 : Math.exp(value) * value)));
const f32 = Math.fround;

/** (B, T); `outside` wherever nothing is trained. */
export const entropies = ({ logits, completion_mask: mask }: Args<'entropy'>, outside: number): number[][] =>
  mask.map((row, b) => row.map((on, t) => (on === 1 ? entropyOf(logits[b]?.[t - 1] ?? []) : outside)));
const rowMeans = (args: Args<'entropy'>): number[] =>
  entropies(args, 0).map((row, b) => sum(row) / Math.max(1, sum(args.completion_mask[b] ?? [])));
/** One column less, in which the mask stands as well. */
const predictors = ({ logits, completion_mask: mask }: Args<'entropy'>): Ok<'entropy'> => ({
  entropy: mask.map((row, b) => row.map((on, t) => (on === 1 ? entropyOf(logits[b]?.[t] ?? []) : 0))),
});
/** Completions only, as is their mask. */
const ofCompletions = ({ logits, completion_mask: mask, prompt_width: width }: Args<'entropy'>): number[][] =>
  mask.map((row, b) => row.map((on, t) => (on === 1 ? f32(entropyOf(logits[b]?.[width + t - 1] ?? [])) : 0)));

export const legalEntropies: readonly Legal[] = [
  legal('a mean entropy over rows', { entropy: (args) => ({ mean_entropy: mean(rowMeans(args)) }) }),
  legal('a mean entropy over rows that are trained', {
    entropy: (args) => ({
      mean_entropy: mean(rowMeans(args).filter((_, b) => sum(args.completion_mask[b] ?? []) > 0)),
    }),
  }),
  legal('entropies with NaN outside the mask', {
    entropy: (args) => ({ entropy: entropies(args, Number.NaN) }),
  }),
  legal('entropies of every column', {
    entropy: ({ logits }) => ({ entropy: logits.map((rows) => [7, ...rows.slice(0, -1).map(entropyOf)]) }),
  }),
  legal(
    'entropies beside their predictors',
    { entropy: predictors },
    { layout: { alignment: 'predictor', span: 'row' } },
  ),
  legal(
    'entropies of completions in float32',
    {
      entropy: (args) => ({
        entropy: ofCompletions(args),
        mean_entropy: f32(sum(ofCompletions(args).flat()) / sum(args.completion_mask.flat())),
      }),
    },
    { dtype: 'float32', layout: { alignment: 'token', span: 'completion' } },
  ),
  legal('entropies of nothing but zeros where nothing is trained', {
    entropy: (args) => ({
      entropy: entropies(args, 0).map((row) => (sum(row) === 0 ? repeat(0, row.length) : row)),
    }),
  }),
];
