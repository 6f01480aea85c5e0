// Legal KL estimates and log-probabilities, most of them undeclared.
import type { Args, Ok } from '../../../src/index.ts';
import { cell, type Legal, legal, mean, type Rows, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Estimate = (logprob: number, ref: number, old: number) => number;

const perToken = (args: Args<'kl'>, estimate: Estimate): number[][] =>
  args.completion_mask.map((row, b) =>
    row.map((on, t) =>
      on === 1
        ? estimate(cell(args.logprobs, b, t), cell(args.ref_logprobs, b, t), cell(args.old_logprobs, b, t))
        : 0,
    ),
  );
const kl =
  (estimate: Estimate) =>
  (args: Args<'kl'>): Ok<'kl'> => ({ kl: perToken(args, estimate) });
const tokenMean =
  (estimate: Estimate) =>
  (args: Args<'kl'>): Ok<'kl'> => ({
    mean_kl: sum(perToken(args, estimate).flat()) / sum(args.completion_mask.flat()),
  });
/** The mean over rows of each row's mean, a row without tokens counting 0: what TRL logged at first. */
const rowMean =
  (estimate: Estimate) =>
  (args: Args<'kl'>): Ok<'kl'> => ({
    mean_kl: mean(
      perToken(args, estimate).map((row, b) => sum(row) / Math.max(sum(args.completion_mask[b] ?? []), 1)),
    ),
  });
const k1: Estimate = (p, q) => p - q;
const k2: Estimate = (p, q) => (p - q) ** 2 / 2;
const k3: Estimate = (p, q) => Math.exp(q - p) - (q - p) - 1;
const within = (bound: number, value: number): number => Math.min(Math.max(value, -bound), bound);

const ofRows = (args: Args<'kl'>, of: 'mean' | 'sum'): number[] =>
  args.completion_mask.map((row, b) => {
    const own = row.flatMap((on, t) =>
      on === 1 ? [cell(args.ref_logprobs, b, t) - cell(args.logprobs, b, t)] : [],
    );
    return own.length === 0 ? 0 : k3(0, of === 'mean' ? mean(own) : sum(own), 0);
  });

const f32 = Math.fround;
const rounded = (rows: Rows): number[][] => rows.map((row) => row.map(f32));

const scored = ({ input_ids, logits }: Args<'logprobs'>, temperature: number): number[][] =>
  input_ids.map((ids, b) =>
    ids.map((id, t) => {
      // Nothing predicts the first token: whatever stands there is nobody's business.
      if (t === 0) return Number.NaN;
      const row = (logits[b]?.[t - 1] ?? []).map((logit) => logit / temperature);
      const top = Math.max(...row);
      return (row[id] ?? Number.NaN) - top - Math.log(sum(row.map((logit) => Math.exp(logit - top))));
    }),
  );

export const estimates: readonly Legal[] = [
  legal('k1, undeclared', { kl: kl(k1) }),
  legal('k2, undeclared', { kl: kl(k2) }),
  legal('the absolute difference, undeclared (verl)', { kl: kl((p, q) => Math.abs(p - q)) }),
  legal(
    'the absolute difference, declared, with its mean over rows',
    {
      kl: (args) => ({
        ...kl((p, q) => Math.abs(p - q))(args),
        ...rowMean((p, q) => Math.abs(p - q))(args),
      }),
    },
    { semantics: { kl_estimator: 'abs' } },
  ),
  legal('k3 of a log-ratio within 10, undeclared', { kl: kl((p, q) => k3(0, within(10, q - p), 0)) }),
  legal('k3 of a log-ratio of at most 10, undeclared', { kl: kl((p, q) => k3(0, Math.min(q - p, 10), 0)) }),
  legal(
    'k3 of a log-ratio of at most 10',
    { kl: kl((p, q) => k3(0, Math.min(q - p, 10), 0)) },
    { semantics: { kl_estimator: 'k3', kl_clamp: [null, 10] } },
  ),
  legal(
    'k3 of a log-ratio of at most 10, turned round',
    { kl: kl((p, q) => k3(Math.min(p - q, 10), 0, 0)) },
    { semantics: { kl_estimator: 'k3', kl_clamp: [null, 10] } },
  ),
  legal(
    'k1 from -5 to 10',
    { kl: kl((p, q) => Math.min(Math.max(k1(p, q, 0), -5), 10)) },
    { semantics: { kl_estimator: 'k1', kl_clamp: [-5, 10] } },
  ),
  ...(['mean', 'sum'] as const).flatMap((of) => [
    legal(
      `k3 of the ${of} of a row's log-ratios`,
      {
        kl: (args) => ({
          kl: ofRows(args, of).map((value, b) => (args.completion_mask[b] ?? []).map(() => value)),
        }),
      },
      { semantics: { kl_estimator: 'k3', kl_level: 'sequence' } },
    ),
    legal(
      `k3 of the ${of} of a row's log-ratios, undeclared`,
      { kl: (args) => ({ mean_kl: mean(ofRows(args, of)) }) },
      { is: { kl_level: 'sequence' } },
    ),
    legal(
      `the mean over rows of k3 of the ${of} of a row's log-ratios`,
      { kl: (args) => ({ mean_kl: mean(ofRows(args, of)) }) },
      { semantics: { kl_estimator: 'k3', kl_level: 'sequence' } },
    ),
  ]),
  legal(
    'k3 kept in bfloat16, in a trainer of float32',
    { kl: kl((p, q) => b16(k3(p, q, 0))) },
    { dtype: 'float32', can: { kl: { dtype: 'bfloat16' } }, semantics: { kl_estimator: 'k3' } },
  ),
  legal('k3 within 10, undeclared', { kl: kl((p, q) => within(10, k3(p, q, 0))) }),
  ...(['k3', 'k1'] as const).map((own) =>
    legal(
      `k3 within 10 and k1 as it is, ${own} where none is named (verl)`,
      {
        kl: (args) =>
          kl((p, q) => ((args.kl_estimator ?? own) === 'k1' ? k1(p, q, 0) : within(10, k3(p, q, 0))))(args),
      },
      { can: { kl: { kl_estimator: ['k1', 'k3'] } } },
    ),
  ),
  legal(
    'k3 within 10 and k1 as it is, declared',
    {
      kl: (args) => kl((p, q) => (args.kl_estimator === 'k1' ? k1(p, q, 0) : within(10, k3(p, q, 0))))(args),
    },
    { can: { kl: { kl_estimator: ['k1', 'k3'] } }, semantics: { kl_estimator: 'k3', kl_clamp: 10 } },
  ),
  ...(['k3', 'k1'] as const).map((own) =>
    legal(
      `k3 within 10 and k1 as it is, each declared, ${own} where none is named (verl)`,
      {
        kl: (args) =>
          kl((p, q) => ((args.kl_estimator ?? own) === 'k1' ? k1(p, q, 0) : within(10, k3(p, q, 0))))(args),
      },
      {
        can: { kl: { kl_estimator: ['k1', 'k3'] } },
        semantics: { kl_estimator: own, kl_clamp: { k3: 10 } },
      },
    ),
  ),
  legal(
    'k1 within 5, k2 within 20 and k3 as it is, each declared',
    {
      kl: (args) =>
        kl((p, q) => {
          if (args.kl_estimator === 'k1') return within(5, k1(p, q, 0));
          return args.kl_estimator === 'k2' ? Math.min(k2(p, q, 0), 20) : k3(p, q, 0);
        })(args),
    },
    {
      can: { kl: { kl_estimator: ['k1', 'k2', 'k3'] } },
      semantics: { kl_estimator: 'k3', kl_clamp: { k1: 5, k2: 20 } },
    },
  ),
  legal('k3 times the ratio, undeclared', { kl: kl((p, q, old) => Math.exp(p - old) * k3(p, q, old)) }),
  legal('mean KL only, over tokens', { kl: tokenMean(k3) }),
  legal('mean KL only, over rows', { kl: rowMean(k3) }),
  legal('KL of completion columns', { kl: kl(k3) }, { layout: { alignment: 'token', span: 'completion' } }),
  legal('log-probabilities with NaN in front', { logprobs: (args) => ({ logprobs: scored(args, 1) }) }),
  legal(
    'log-probabilities in float32, predictor-aligned',
    {
      logprobs: (args) => ({
        logprobs: rounded(scored(args, args.temperature)).map((row) => row.slice(1)),
      }),
    },
    {
      dtype: 'float32',
      layout: { alignment: 'predictor', span: 'row' },
      can: { logprobs: { temperature: true } },
    },
  ),
  legal(
    'KL in float32',
    { kl: (args) => ({ kl: rounded(perToken(args, (p, q) => k3(f32(p), f32(q), 0))) }) },
    { dtype: 'float32', semantics: { kl_estimator: 'k3' } },
  ),
];
