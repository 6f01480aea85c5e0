// What the inference engine said of the sampled tokens beside what the trainer says of them: the gap that is logged, and the
// correction that is made for it.
import {
  type Args,
  bandOf,
  discard,
  ESTIMATED_NOTE,
  klPerToken,
  klVariants,
  lossWeights,
  type Matrix,
  many,
  maskedMean,
  type Property,
  severalTurnsInMasks,
  show,
  singleTurnOr,
  type Tracks,
  tracks,
} from '../../../src/index.ts';
import { firstOff, gapped, insert } from '../mask-gaps.ts';
import { base, coverage, whole } from './loss.ts';
import { meansOf } from './terms.ts';

export const engineOffered: NonNullable<Property<Tracks>['needs']> = [
  ({ hello }) =>
    hello.ops.loss?.sampling_logprobs
      ? undefined
      : 'op `loss` is not sent the log-probabilities of an inference engine',
];

type Engine = Args<'loss'> & { readonly sampling_logprobs: Matrix };

/** The behaviour policy of the case in the engine's place; the trainer has not moved since, so `old_logprobs` are its own. */
function beside(drawn: Tracks): Engine {
  const args = whole(drawn);
  return { ...args, old_logprobs: args.logprobs, sampling_logprobs: args.old_logprobs };
}

/**
 * How far two policies are apart on the tokens of the mask, by each measure in use: the estimators of a KL either way round,
 * |difference| of log-probabilities (TRL's `sampling_logp_difference`), of probabilities (verl's `rollout_probs_diff`), and the
 * factor exp|difference| (NeMo-RL's `token_mult_prob_error`); as a mean or the largest.
 */
function gaps(trainer: Matrix, engine: Matrix, mask: Matrix): number[] {
  const both = (of: (p: number, q: number) => number): Matrix =>
    trainer.map((row, b) => row.map((p, t) => of(p, engine[b]?.[t] ?? 0)));
  const absolute = [
    both((p, q) => Math.abs(p - q)),
    both((p, q) => Math.abs(Math.exp(p) - Math.exp(q))),
    both((p, q) => Math.exp(Math.abs(p - q))),
  ];
  const estimates = klVariants({ kl_clamp: null, kl_ratio_correction: false }).flatMap((variant) => [
    klPerToken(trainer, engine, trainer, variant),
    klPerToken(engine, trainer, engine, variant),
  ]);
  // |difference of the logarithms of a row's perplexities|, verl's `log_ppl_abs_diff`.
  const ofRows = both((p, q) => p - q).map((row, b) => Math.abs(maskedMean([row], [mask[b] ?? []])));
  const told = ofRows.filter((value) => !Number.isNaN(value));
  return [
    ...absolute.flatMap((values) => [...meansOf(values, mask), largest(values, mask)]),
    ...estimates.flatMap((values) => meansOf(values, mask)),
    told.reduce((sum, value) => sum + value, 0) / told.length,
  ];
}

const largest = (values: Matrix, mask: Matrix): number =>
  Math.max(...values.flatMap((row, b) => row.filter((_, t) => mask[b]?.[t] === 1)));

const tokensOf = (mask: Matrix): string => many(mask.flat().filter((on) => on === 1).length, 'trained token');

const logged: Property<Tracks> = {
  ...base,
  id: 'loss/logged-gap-is-between-engine-and-trainer',
  title:
    'The metric sampling_gap, where answered, is a distance between what the engine and the trainer report for the trained tokens',
  why: 'It is the one number that shows an engine with other weights, another temperature or other ids; taken over padding, or of the updated policy, it shows something else.',
  catches: ['LP-18', 'LOSS-09', 'MSK-10'],
  needs: engineOffered,
  given: () => tracks({ noEmptyRows: true }),
  coverage,
  async check(subject, drawn) {
    const args = beside(drawn);
    const { metrics } = await subject.ask('loss', args);
    const observed = metrics?.sampling_gap;
    if (observed === undefined) return discard('the answer has no metrics.sampling_gap', 'trainer');
    const band = bandOf(subject, args.completion_mask.flat().length);
    const known = gaps(args.old_logprobs, args.sampling_logprobs, args.completion_mask);
    if (known.some((value) => band.close(observed, value))) return undefined;
    return {
      kind: 'metric',
      sentence: `metrics.sampling_gap is ${show(observed)} over ${tokensOf(args.completion_mask)}; no distance between sampling_logprobs and old_logprobs is that (the mean of |difference| is ${show(known[0])}).`,
      note: band.reason,
    };
  },
};

const ofTools: Property<Tracks> = {
  ...base,
  id: 'loss/logged-gap-leaves-out-what-a-tool-wrote',
  title: 'The metric sampling_gap does not change when a masked token stands between trained ones',
  why: 'An engine has no log-probability for what a tool wrote, and a 0 stands in its place: the gap of an agent then looks as if its engine ran other weights.',
  catches: ['LP-18', 'MSK-02'],
  needs: [...engineOffered, severalTurnsInMasks],
  given: () => tracks({ noEmptyRows: true, twoTokens: true }),
  coverage,
  async check(subject, drawn) {
    const args = beside(drawn);
    const { args: holed, columns } = gapped(args);
    const sampling_logprobs = insert(args.sampling_logprobs, columns, 0);
    const before = (await subject.ask('loss', args)).metrics?.sampling_gap;
    const after = (await subject.ask('loss', { ...holed, sampling_logprobs })).metrics?.sampling_gap;
    if (before === undefined || after === undefined)
      return discard('the answer has no metrics.sampling_gap', 'trainer');
    const band = bandOf(subject, args.completion_mask.flat().length);
    if (band.close(after, before)) return undefined;
    return {
      kind: 'gap',
      sentence: `metrics.sampling_gap changes from ${show(before)} to ${show(after)} when masked tokens, with 0 in sampling_logprobs, are inserted after the first and after the second token of each completion.`,
      ...singleTurnOr(subject),
      note: band.reason,
    };
  },
};

const agreed: Property<Tracks> = {
  ...base,
  id: 'loss/an-engine-that-agrees-needs-no-correction',
  title:
    'Where the engine says what the trainer says, loss and gradient are those without it, and the gap that is logged is none',
  why: 'A correction taken from the updated policy counts the ratio twice; every step is then off by the whole update before it.',
  catches: ['LP-18'],
  needs: engineOffered,
  given: () => tracks({ noEmptyRows: true }),
  coverage,
  async check(subject, drawn) {
    const args = whole(drawn);
    const without = await lossWeights(subject, args);
    const agreeing = { ...args, sampling_logprobs: args.old_logprobs };
    const observed = await lossWeights(subject, agreeing);
    const band = bandOf(subject, args.completion_mask.flat().length);
    const note = observed.estimated ? ESTIMATED_NOTE : band.reason;
    const told = (await subject.ask('loss', agreeing)).metrics?.sampling_gap;
    // A factor of 1 is no gap.
    if (told !== undefined && !band.close(told, 0) && !band.close(told, 1))
      return {
        kind: 'metric',
        sentence: `sampling_logprobs are old_logprobs, and metrics.sampling_gap is ${show(told)}.`,
        note: band.reason,
      };
    if (!band.close(observed.loss, without.loss))
      return {
        kind: 'loss',
        sentence: `The loss changes from ${show(without.loss)} to ${show(observed.loss)} when sampling_logprobs are sent, although they are old_logprobs.`,
        note,
      };
    const zero = Math.max(observed.zero, without.zero);
    const off = firstOff(args.completion_mask, without.weights, observed.weights, (value) =>
      Math.max(zero, band.allowed(value)),
    );
    if (off === undefined) return undefined;
    return {
      kind: 'weight',
      sentence: `The gradient of token ${off.column} of row ${off.row} changes from ${show(off.was)} to ${show(off.is)} when sampling_logprobs are sent, although they are old_logprobs.`,
      note,
    };
  },
};

export const samplingGaps: readonly Property<Tracks>[] = [logged, ofTools, agreed];
