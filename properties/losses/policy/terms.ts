// What stands beside the policy's own term: rows that are padding for a rank, log-ratios out of all proportion, and what is
// logged of it. The entropy bonus is in bonus.ts.
import {
  type Args,
  bandOf,
  discard,
  klPerToken,
  klVariants,
  lossWeights,
  type Matrix,
  many,
  maskedMean,
  type Property,
  type Semantics,
  show,
  type Tracks,
  tracks,
} from '../../../src/index.ts';
import { base, coverage, whole } from './loss.ts';

/** Trainers whose mean over rows counts every row are not asked: there, one more row does matter. */
const countsTokens = ({ semantics }: { semantics: Semantics }): string | undefined =>
  semantics.loss_aggregation === 'token-mean' && semantics.kl_level !== 'sequence'
    ? undefined
    : 'semantics.loss_aggregation is not "token-mean", or the KL is one of rows: a mean over rows may count a row without tokens';

const dummyRows: Property<Tracks> = {
  ...base,
  id: 'loss/rows-without-tokens-add-nothing',
  title: 'A row that is masked out whole changes neither loss nor gradient of a mean over tokens',
  why: 'Rows that fill a batch up to the number of ranks are counted as samples, and every step is too small.',
  catches: ['PAD-11', 'LOSS-03', 'NUM-01'],
  needs: [countsTokens],
  given: () => tracks(),
  coverage,
  async check(subject, drawn) {
    const filler = { prompt: 1, tokens: [], advantage: 1, part: 0 };
    const before = await lossWeights(subject, whole(drawn));
    const after = await lossWeights(subject, whole({ rows: [...drawn.rows, filler] }));
    const band = bandOf(subject, drawn.rows.length);
    if (band.close(after.loss, before.loss)) return undefined;
    return {
      kind: 'loss',
      sentence: `The loss changes from ${show(before.loss)} to ${show(after.loss)} when a row without trained tokens is added.`,
      note: band.reason,
    };
  },
};

const constant: Property<Tracks> = {
  ...base,
  id: 'loss/a-constant-gives-the-constant',
  title: 'Where every trained token has the same loss, a mean over them is that loss',
  why: 'Numerator and denominator that count different tokens, or a factor that was lost, scale every step.',
  catches: ['LOSS-03', 'LOSS-04', 'LOSS-08', 'LOSS-11'],
  needs: [
    ({ semantics: { loss_aggregation: aggregation, policy_objective: objective, ratio_level: level } }) => {
      if (objective === 'cispo') return 'the value of CISPO depends on the log-probability';
      if (level === 'none') return 'the value of a loss without a ratio may depend on the log-probability';
      return aggregation === 'token-mean' || aggregation === 'seq-mean-token-mean'
        ? undefined
        : 'semantics.loss_aggregation is not declared as one of the means';
    },
  ],
  given: () => tracks({ noEmptyRows: true, onPolicy: true }),
  coverage,
  async check(subject, drawn) {
    const advantage = drawn.rows[0]?.advantage || 1;
    const args = whole({ rows: drawn.rows.map((row) => ({ ...row, advantage })) });
    const { loss } = await subject.ask('loss', args);
    const band = bandOf(subject, args.completion_mask.flat().length);
    if (band.close(loss, -advantage)) return undefined;
    return {
      kind: 'constant',
      sentence: `On policy, with advantage ${advantage} in every row, every trained token has the loss ${show(-advantage)}, but their mean is ${show(loss)}.`,
      note: band.reason,
    };
  },
};

/** exp overflows from 709 in float64, and from 88 in float32. */
const FAR = 1e4;

const extreme: Property<Tracks> = {
  ...base,
  id: 'loss/extreme-ratios-stay-finite',
  title: 'Where the log-ratio is declared to be clamped, no log-ratio overflows the loss',
  why: 'One token that the behaviour policy gave up on makes exp(new - old) infinite, and the step NaN.',
  catches: ['NUM-05', 'PPO-06'],
  needs: [
    ({ semantics }) =>
      typeof semantics.log_ratio_clamp === 'number' ? undefined : 'semantics.log_ratio_clamp is not declared',
  ],
  given: () => tracks({ noEmptyRows: true }),
  coverage,
  async check(subject, drawn) {
    const args = whole(drawn);
    const old_logprobs = args.old_logprobs.map((row, b) =>
      row.map((value, t) => (args.completion_mask[b]?.[t] === 1 && (b + t) % 2 === 0 ? value - FAR : value)),
    );
    const { loss } = await subject.ask('loss', { ...args, old_logprobs });
    return Number.isFinite(loss)
      ? undefined
      : {
          kind: 'not finite',
          sentence: `The loss is ${loss} where old_logprobs of some tokens lie ${FAR} below logprobs, although the log-ratio is declared to be clamped to ±${subject.semantics.log_ratio_clamp}.`,
        };
  },
};

/** Means of a track over tokens, and over rows of each row's mean. */
export function meansOf(values: Matrix, mask: Matrix): number[] {
  const rows = values
    .map((row, b) => maskedMean([row], [mask[b] ?? []]))
    .filter((mean) => !Number.isNaN(mean));
  const sum = rows.reduce((total, mean) => total + mean, 0);
  return [maskedMean(values, mask), sum / rows.length, sum / values.length];
}

const metrics: Property<Tracks> = {
  ...base,
  id: 'loss/logged-kl-is-of-the-raw-log-ratio',
  title: 'The metric approx_kl, where answered, is an estimate of the KL between behaviour policy and policy',
  why: 'Taken after clamping, clipping or over padding, the one number that shows a diverging policy stays calm.',
  catches: ['PPO-06', 'LOSS-09'],
  given: () => tracks({ noEmptyRows: true }),
  coverage: { ...coverage, 'beyond the clip range': 0.2 },
  async check(subject, drawn) {
    const args: Args<'loss'> = whole(drawn);
    const { metrics: logged } = await subject.ask('loss', args);
    const observed = logged?.approx_kl;
    if (observed === undefined) return discard('the answer has no metrics.approx_kl', 'trainer');
    const band = bandOf(subject, args.completion_mask.flat().length);
    // KL(old || policy) is estimated with old in the policy's place, and the other way round: both are logged.
    const known = klVariants({ kl_clamp: null, kl_ratio_correction: false }).flatMap((variant) =>
      [
        klPerToken(args.old_logprobs, args.logprobs, args.old_logprobs, variant),
        klPerToken(args.logprobs, args.old_logprobs, args.logprobs, variant),
      ].flatMap((values) => meansOf(values, args.completion_mask)),
    );
    if (known.some((value) => band.close(observed, value))) return undefined;
    return {
      kind: 'metric',
      sentence: `metrics.approx_kl is ${show(observed)} over ${many(args.completion_mask.flat().filter((on) => on === 1).length, 'trained token')}; no estimator of the raw log-ratio gives that (k1 gives ${show(known[0])}).`,
      note: band.reason,
    };
  },
};

export const lossTerms: readonly Property<Tracks>[] = [constant, dummyRows, extreme, metrics];
