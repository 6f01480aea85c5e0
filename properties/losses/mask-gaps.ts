// A mask with a gap: what a tool wrote stands between the turns of a completion, and is not trained. Loss and KL of the
// tokens around it are what they were without it.
import {
  type Args,
  bandOf,
  ESTIMATED_NOTE,
  layTracks,
  lossWeights,
  type Matrix,
  type Property,
  severalTurnsInMasks,
  show,
  singleTurnOr,
  type Tracks,
  trackLabels,
  tracks,
} from '../../src/index.ts';
import { whole } from './policy/loss.ts';

/** Numbers as those of real tokens: policy, behaviour policy and reference disagree about them. */
const LOGPROB = -1;
const OLD = -3;
const REF = -2;

const base = {
  level: 'must',
  needs: [severalTurnsInMasks],
  given: () => tracks({ noEmptyRows: true, twoTokens: true }),
  labels: trackLabels,
  coverage: { 'several rows': 0.25, 'unequal completions': 0.25 },
} as const;

/** With `value` in these columns of the result, which are ascending. */
export const insert = (rows: Matrix, columns: readonly number[], value: number): number[][] =>
  rows.map((row) =>
    columns.reduce<number[]>(
      (made, column) => [...made.slice(0, column), value, ...made.slice(column)],
      [...row],
    ),
  );

const without = (rows: Matrix, columns: readonly number[]): number[][] =>
  rows.map((row) => row.filter((_, at) => !columns.includes(at)));

type Masked = Pick<
  Args<'loss'>,
  'logprobs' | 'old_logprobs' | 'ref_logprobs' | 'completion_mask' | 'prompt_width'
>;

/**
 * Two masked columns behind the first token of the completions, and one behind the second: of longer ones they split the mask
 * in three. Where none has two tokens (`twoTokens` of the generator), nothing stands behind a gap.
 */
export function gapped<A extends Masked>(args: A): { readonly args: A; readonly columns: readonly number[] } {
  const first = args.prompt_width + 1;
  const columns = [first, first + 1, first + 3];
  return {
    columns,
    args: {
      ...args,
      logprobs: insert(args.logprobs, columns, LOGPROB),
      old_logprobs: insert(args.old_logprobs, columns, OLD),
      ref_logprobs: insert(args.ref_logprobs, columns, REF),
      completion_mask: insert(args.completion_mask, columns, 0),
    },
  };
}

/** The first trained token whose numbers differ. */
export function firstOff(
  mask: Matrix,
  before: Matrix,
  after: Matrix,
  allowed: (value: number) => number,
): { row: number; column: number; was: number | undefined; is: number | undefined } | undefined {
  for (const [row, marks] of mask.entries()) {
    for (const [column, on] of marks.entries()) {
      const [was, is] = [before[row]?.[column], after[row]?.[column]];
      if (on === 1 && !(Math.abs((is ?? Number.NaN) - (was ?? Number.NaN)) <= allowed(was ?? 0)))
        return { row, column, was, is };
    }
  }
  return undefined;
}

const loss: Property<Tracks> = {
  ...base,
  id: 'loss/a-gap-in-the-mask-is-no-token',
  title: 'A masked token between trained ones changes neither loss nor gradient of the others',
  stage: 'loss',
  ops: ['loss'],
  why: 'A loss that takes the number of trained tokens for the length of the completion trains the output of the first tool, and leaves the final answer out.',
  catches: ['MSK-02', 'LOSS-11', 'MSK-10'],
  async check(subject, drawn) {
    const args = whole(drawn);
    const gap = gapped(args);
    const before = await lossWeights(subject, args);
    const after = await lossWeights(subject, gap.args);
    const band = bandOf(subject, args.completion_mask.flat().length);
    const note = before.estimated ? ESTIMATED_NOTE : band.reason;
    const zero = Math.max(before.zero, after.zero);
    for (const [row, weights] of after.weights.entries()) {
      const column = gap.columns.find((at) => !(Math.abs(weights[at] ?? 0) <= zero));
      if (column !== undefined)
        return {
          kind: 'gap',
          sentence: `Token ${column} of row ${row} is masked out, and its gradient is ${show(weights[column])}.`,
          ...singleTurnOr(subject),
          note,
        };
    }
    const off = firstOff(args.completion_mask, before.weights, without(after.weights, gap.columns), (value) =>
      Math.max(zero, band.allowed(value)),
    );
    if (off !== undefined)
      return {
        kind: 'weight',
        sentence: `The gradient of token ${off.column} of row ${off.row} changes from ${show(off.was)} to ${show(off.is)} when masked tokens are inserted after the first and after the second token of each completion.`,
        ...singleTurnOr(subject),
        note,
      };
    if (band.close(after.loss, before.loss)) return undefined;
    return {
      kind: 'loss',
      sentence: `The loss changes from ${show(before.loss)} to ${show(after.loss)} when masked tokens are inserted after the first and after the second token of each completion.`,
      ...singleTurnOr(subject),
      note,
    };
  },
};

const kl: Property<Tracks> = {
  ...base,
  id: 'kl/a-gap-in-the-mask-is-no-token',
  title: 'A masked token between trained ones changes neither the KL of the others nor its mean',
  stage: 'kl',
  ops: ['kl'],
  why: 'A mean over so many tokens from the first on is that of the text of a tool as soon as there is one.',
  catches: ['KL-08', 'MSK-02'],
  async check(subject, drawn) {
    const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width } = layTracks(drawn);
    const args: Args<'kl'> = { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width };
    const gap = gapped(args);
    const before = await subject.ask('kl', args);
    const after = await subject.ask('kl', gap.args);
    const band = bandOf(subject, completion_mask.flat().length);
    const off =
      before.kl === undefined || after.kl === undefined
        ? undefined
        : firstOff(completion_mask, before.kl, without(after.kl, gap.columns), band.allowed);
    if (off !== undefined)
      return {
        kind: 'token',
        sentence: `The KL of token ${off.column} of row ${off.row} changes from ${show(off.was)} to ${show(off.is)} when masked tokens are inserted after the first and after the second token of each completion.`,
        ...singleTurnOr(subject),
        note: band.reason,
      };
    if (before.mean_kl === undefined || band.close(after.mean_kl, before.mean_kl)) return undefined;
    return {
      kind: 'mean',
      sentence: `The mean KL changes from ${show(before.mean_kl)} to ${show(after.mean_kl)} when masked tokens are inserted after the first and after the second token of each completion.`,
      ...singleTurnOr(subject),
      note: band.reason,
    };
  },
};

export const lossGaps: readonly Property<Tracks>[] = [loss];
export const klGaps: readonly Property<Tracks>[] = [kl];
