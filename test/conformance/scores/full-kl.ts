// Legal exact KLs over the vocabulary: other places outside the mask, other means, other ways to round.
import { type Args, logSoftmax, type Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, type Rows, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type FullKl = Args<'full_kl'>;
type Row = readonly number[];
/** KL of the logits of policy and reference, already divided by the temperature. */
type Way = (policy: Row, reference: Row) => number;

const f32 = Math.fround;
const sumOf = (values: Row, round: (x: number) => number): number =>
  values.reduce((total, value) => round(total + value), 0);

/** As it is written down, each step rounded. */
export const plain =
  (round: (x: number) => number): Way =>
  (policy, reference) => {
    const [p, q] = [policy, reference].map((row) => logSoftmax(row).map(round));
    const terms = (p ?? []).map((log, id) =>
      log === -Infinity ? 0 : round(Math.exp(log) * round(log - (q?.[id] ?? Number.NaN))),
    );
    return round(sum(terms));
  };
/** E[z] - log Z of both, in float32: differences of numbers as large as the logits. */
const byMeans: Way = (policy, reference) => {
  const p = logSoftmax(policy).map((log) => f32(Math.exp(log)));
  const logTotal = (row: Row): number => {
    const top = row.reduce((a, b) => Math.max(a, b));
    return f32(
      top +
        f32(
          Math.log(
            sumOf(
              row.map((z) => f32(Math.exp(z - top))),
              f32,
            ),
          ),
        ),
    );
  };
  const means = [policy, reference].map((row) =>
    sumOf(
      row.map((z, id) => (z === -Infinity ? 0 : f32((p[id] ?? 0) * z))),
      f32,
    ),
  );
  return f32(f32((means[0] ?? 0) - (means[1] ?? 0)) - f32(logTotal(policy) - logTotal(reference)));
};
/** A KL is never below 0, and rounding may say otherwise. */
const clamped: Way = (policy, reference) => Math.max(0, plain(f32)(policy, reference));

/** (B, T) of the logits before each token; `first` at token 0. */
const tokens = ({ logits, ref_logits, temperature }: FullKl, way: Way, first = 0): number[][] =>
  logits.map((rows, b) =>
    rows.map((_, t) => {
      const [p, q] = [rows[t - 1], ref_logits[b]?.[t - 1]].map((row) => row?.map((z) => z / temperature));
      return p === undefined || q === undefined ? first : way(p, q);
    }),
  );
const under = (rows: Rows, { completion_mask: mask }: FullKl, outside: number): number[][] =>
  rows.map((row, b) => row.map((value, t) => (mask[b]?.[t] === 1 ? value : outside)));
const rowMeans = (args: FullKl): number[] =>
  under(tokens(args, plain(f32)), args, 0).map(
    (row, b) => sum(row) / Math.max(1, sum(args.completion_mask[b] ?? [])),
  );

export const answering =
  (way: Way, outside = 0) =>
  (args: FullKl): Ok<'full_kl'> => ({ kl: under(tokens(args, way), args, outside) });
const can = { full_kl: { temperature: true } };

export const fullKls: readonly Legal[] = [
  legal(
    'an exact KL with NaN outside the mask',
    {
      full_kl: answering(
        plain((x) => x),
        Number.NaN,
      ),
    },
    { can },
  ),
  legal('an exact KL of every column', {
    full_kl: (args) => ({
      kl: tokens(
        args,
        plain((x) => x),
        7,
      ),
    }),
  }),
  legal(
    'a mean exact KL over rows',
    { full_kl: (args) => ({ mean_kl: mean(rowMeans(args)) }) },
    { dtype: 'float32' },
  ),
  legal('an exact KL in float32', { full_kl: answering(plain(f32)) }, { can, dtype: 'float32' }),
  legal('an exact KL in float32, never below 0', { full_kl: answering(clamped) }, { can, dtype: 'float32' }),
  legal('an exact KL of two means in float32', { full_kl: answering(byMeans) }, { can, dtype: 'float32' }),
  legal(
    'an exact KL at real vocabularies in bfloat16',
    { full_kl: answering(plain(b16)) },
    { can, dtype: 'bfloat16', tensors: 'base64', layout: { alignment: 'token', span: 'row' } },
  ),
  legal(
    'an exact KL at real vocabularies in float32',
    { full_kl: answering(plain(f32)) },
    { can, dtype: 'float32', tensors: 'base64', layout: { alignment: 'token', span: 'row' } },
  ),
];
