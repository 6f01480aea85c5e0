// The policy loss under changes that must not matter: padding, row order, micro-batches, masked values.
import {
  bandOf,
  discard,
  ESTIMATED_NOTE,
  type Finding,
  lossWeights,
  type Matrix,
  many,
  microBatches,
  numberFinding,
  type Property,
  type Subject,
  show,
  type Tracks,
  tracks,
  type Weights,
} from '../src/index.ts';
import { argsOf, base, coverage, firstToken, notFinite, whole } from './loss.ts';

/** Loss and weights of two requests must agree; `place` maps a token of the first to one of the second. */
function agree(
  subject: Subject,
  before: Weights,
  after: Weights,
  mask: Matrix,
  place: (row: number, column: number) => readonly [number, number],
  what: string,
): Finding | undefined {
  // NaN in both answers is no agreement; NaN in the second alone is what the change does.
  const broken = notFinite(before, mask);
  if (broken !== undefined) return broken;
  const band = bandOf(subject, mask.flat().length);
  if (!band.close(after.loss, before.loss)) {
    return numberFinding({
      kind: 'loss',
      sentence: `The loss changes from ${show(before.loss)} to ${show(after.loss)} ${what}.`,
      band,
      pairs: [{ where: 'loss', expected: before.loss, observed: after.loss }],
    });
  }
  const found = firstToken(mask, (row, column, trained) => {
    const [r, c] = place(row, column);
    const [left, right] = [before.weights[row]?.[column] ?? 0, after.weights[r]?.[c] ?? 0];
    const allowed = Math.max(before.zero, after.zero, band.allowed(left));
    // Written so that NaN is a change.
    return trained && !(Math.abs(right - left) <= allowed)
      ? `from ${show(left)} to ${show(right)}`
      : undefined;
  });
  return found === undefined
    ? undefined
    : {
        kind: 'weight',
        sentence: `The gradient of token ${found.column} of row ${found.row} changes ${found.why} ${what}.`,
        ...(before.estimated ? { note: ESTIMATED_NOTE } : {}),
      };
}

const padding: Property<Tracks> = {
  ...base,
  id: 'loss/independent-of-padding',
  title: 'More columns of padding, left and right, change neither loss nor gradient',
  why: 'A mean that counts padding makes the step size depend on the longest answer of the batch.',
  catches: ['LOSS-11', 'PPO-08', 'MSK-06', 'ADV-06'],
  given: () => tracks(),
  coverage,
  async check(subject, drawn) {
    const narrow = whole(drawn);
    const extra = 2;
    const before = await lossWeights(subject, narrow);
    const after = await lossWeights(subject, whole(drawn, { extraPrompt: extra, extraCompletion: extra }));
    return agree(
      subject,
      before,
      after,
      narrow.completion_mask,
      (row, column) => [row, column + extra],
      'with two more columns of padding on each side',
    );
  },
};

const rowOrder: Property<Tracks> = {
  ...base,
  id: 'loss/independent-of-row-order',
  title: 'Rows in another order give the same loss, and their gradients move with them',
  why: 'A loss that depends on the order of rows pairs answers with the advantages of others.',
  catches: ['PAD-08', 'ADV-08', 'ADV-09'],
  given: () => tracks({ minRows: 2 }),
  coverage,
  async check(subject, drawn) {
    const args = whole(drawn);
    const last = drawn.rows.length - 1;
    const before = await lossWeights(subject, args);
    const after = await lossWeights(subject, whole({ rows: [...drawn.rows].reverse() }));
    return agree(
      subject,
      before,
      after,
      args.completion_mask,
      (row, column) => [last - row, column],
      'with the rows in reverse order',
    );
  },
};

const split: Property<Tracks> = {
  ...base,
  id: 'loss/independent-of-micro-batches',
  title: 'Any partition of the batch into micro-batches gives the loss and gradient of the whole',
  why: 'A mean of micro-batch means weighs the tokens of short micro-batches more: gradient accumulation changes the objective.',
  catches: ['LOSS-01', 'LOSS-02', 'LOSS-03', 'LOSS-09'],
  needs: [microBatches('loss')],
  given: () => tracks({ minRows: 2 }),
  coverage: { ...coverage, 'several micro-batches': 0.4 },
  async check(subject, drawn) {
    const args = whole(drawn);
    const before = await lossWeights(subject, args);
    const parts = argsOf(drawn);
    const after = await lossWeights(subject, parts);
    return agree(
      subject,
      before,
      after,
      args.completion_mask,
      (row, column) => [row, column],
      `when the batch is split into ${parts.micro_batches.length} micro-batches [${parts.micro_batches.map((rows) => rows.join(' ')).join(' | ')}]`,
    );
  },
};

/** Far from any log-probability; differences of the three tracks stay below exp's overflow in float32. */
const JUNK = -17;

/** Loss and gradient with `junk` at every masked position, against 0 there. */
const underTheMask =
  (junk: number, what: string): Property<Tracks>['check'] =>
  async (subject, drawn) => {
    const args = whole(drawn);
    const before = await lossWeights(subject, args);
    const after = await lossWeights(subject, whole(drawn, { junk }));
    return agree(subject, before, after, args.completion_mask, (row, column) => [row, column], what);
  };

const maskedValues: Property<Tracks> = {
  ...base,
  id: 'loss/masked-values-do-not-matter',
  title: 'Log-probabilities at masked positions change neither loss nor gradient',
  why: "Whatever stands at prompt and padding is not the policy's doing; a loss that reads it is noise.",
  catches: ['MSK-02', 'KL-08', 'PAD-09', 'ADV-06', 'LOSS-11', 'PPO-05'],
  given: () => tracks(),
  coverage,
  check: underTheMask(JUNK, 'when only masked log-probabilities change'),
};

const poison: Property<Tracks> = {
  ...base,
  id: 'loss/nan-under-the-mask-stays-there',
  title: 'NaN at masked positions reaches neither loss nor gradient',
  why: 'Multiplying by a mask keeps NaN (0 * NaN is NaN): one bad padding value ends the run.',
  level: 'should',
  catches: ['NUM-02', 'NUM-06'],
  given: () => tracks(),
  coverage: { 'unequal completions': 0.3 },
  check: underTheMask(Number.NaN, 'when masked log-probabilities are NaN'),
};

const counted: Property<Tracks> = {
  ...base,
  id: 'loss/trained-tokens-are-counted',
  title: 'trained_tokens, where answered, is the number of tokens under the mask',
  why: 'A counter that is wrong hides the run in which nothing was trained.',
  catches: ['ZL-05', 'LOSS-09', 'MSK-10'],
  given: () => tracks(),
  async check(subject, drawn) {
    const args = whole(drawn);
    const { trained_tokens: observed } = await subject.ask('loss', args);
    const expected = args.completion_mask.flat().filter((value) => value === 1).length;
    if (observed === undefined) return discard('the answer has no trained_tokens');
    if (observed === expected) return undefined;
    return {
      kind: 'count',
      sentence: `The mask trains ${many(expected, 'token')}, but trained_tokens is ${observed}.`,
    };
  },
};

export const lossRelations: readonly Property<Tracks>[] = [
  padding,
  rowOrder,
  split,
  maskedValues,
  poison,
  counted,
];
