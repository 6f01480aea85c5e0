// The loss of supervised fine-tuning: mean negative log-likelihood of the labels that are not -100, each predicted
// from the position before it.
import fc from 'fast-check';
import {
  type Args,
  answersOf,
  bandOf,
  causeIn,
  causeOf,
  causeWords,
  discard,
  type Finding,
  IGNORE_INDEX,
  type LogitBatch,
  logitBatch,
  logitLabels,
  logprobsOf,
  type Matrix,
  many,
  numberFinding,
  type Property,
  relations,
  richest,
  rowMeanSftLoss,
  type SftLoss,
  type Subject,
  sftLoss,
  sftMistakes,
  show,
} from '../../src/index.ts';
import { logitArgs } from '../scores/logprobs.ts';

const base = { stage: 'sft_loss', level: 'must', ops: ['sft_loss'], labels: logitLabels } as const;
const coverage = {
  'several rows': 0.3,
  'unequal rows': 0.3,
  'labels with holes': 0.2,
  'a row without labels': 0.1,
};
const given =
  (minRows = 1) =>
  () =>
    logitBatch({ temperatures: false, minRows, holes: true });

function argsOf(drawn: LogitBatch, options: { junk?: number; split?: boolean } = {}): Args<'sft_loss'> {
  const { rows } = drawn;
  const { args, roles } = logitArgs(drawn, options.junk);
  const parts = new Map<number, number[]>();
  for (const [at, { part }] of rows.entries()) parts.set(part, [...(parts.get(part) ?? []), at]);
  return {
    input_ids: args.input_ids,
    attention_mask: args.attention_mask,
    logits: args.logits,
    labels: args.input_ids.map((ids, row) => {
      const start = roles[row]?.findIndex((role) => role !== 'padding') ?? 0;
      return ids.map((id, column) =>
        roles[row]?.[column] === 'completion' && rows[row]?.tokens[column - start]?.ignored !== true
          ? id
          : IGNORE_INDEX,
      );
    }),
    micro_batches: options.split ? [...parts.values()] : [rows.map((_, at) => at)],
  };
}

/** The legal objectives and aggregations: the declared one, or each where none is. */
function expectations(subject: Subject, { logits, labels }: Args<'sft_loss'>): SftLoss[] {
  const { sft_objective: objective, sft_aggregation: declared } = subject.semantics;
  return (objective === undefined ? (['nll', 'dft'] as const) : [objective]).flatMap((of) => [
    ...(declared === 'seq-mean-token-mean' ? [] : [sftLoss(logits, labels, of)]),
    ...(declared === 'token-mean'
      ? []
      : [rowMeanSftLoss(logits, labels, 'count', of), rowMeanSftLoss(logits, labels, 'skip', of)]),
  ]);
}

async function same(
  subject: Subject,
  before: Args<'sft_loss'>,
  after: Args<'sft_loss'>,
  what: string,
): Promise<Finding | undefined> {
  const [left, right] = [
    (await subject.ask('sft_loss', before)).loss,
    (await subject.ask('sft_loss', after)).loss,
  ];
  for (const [loss, when] of [
    [left, ''],
    [right, ` ${what}`],
  ] as const) {
    // Two losses that are both NaN agree, and train nothing.
    if (!Number.isFinite(loss)) return { kind: 'not finite', sentence: `The SFT loss is ${loss}${when}.` };
  }
  const band = bandOf(subject, before.labels.flat().length);
  if (band.close(right, left)) return undefined;
  return numberFinding({
    kind: 'loss',
    sentence: `The SFT loss changes from ${show(left)} to ${show(right)} ${what}.`,
    band,
    pairs: [{ where: 'loss', expected: left, observed: right }],
  });
}

/** A known mistake that explains the loss of a rich case. */
const explained = (subject: Subject) =>
  causeIn(async () => {
    const rich = richest(given(2)());
    if (rich === undefined) return undefined;
    const args = argsOf(rich);
    const { loss } = await subject.ask('sft_loss', args);
    const band = bandOf(subject, args.labels.flat().length);
    return causeOf(
      sftMistakes(args.logits, args.labels, args.input_ids, args.attention_mask),
      (answer) => band.close(loss, answer),
      expectations(subject, args).map((right) => right.loss),
    );
  });

type Place = readonly [row: number, column: number];

/** The first weight of which `is` holds. */
function placeOf(
  weights: Matrix,
  is: (weight: number, row: number, column: number) => boolean,
): Place | undefined {
  for (const [row, values] of weights.entries()) {
    const column = values.findIndex((weight, at) => is(weight, row, at));
    if (column >= 0) return [row, column];
  }
  return undefined;
}

/** Of one batch all labels may be left out on purpose, as those are that are all but certain; not of every one. */
async function trainsNothing(subject: Subject): Promise<boolean> {
  for (const drawn of fc.sample(given(2)(), { seed: SEED, numRuns: DRAWN })) {
    const { loss_weights: weights = [] } = await subject.ask('sft_loss', argsOf(drawn));
    if (weights.flat().some((weight) => weight !== 0)) return false;
  }
  return true;
}

/** Batches with labels of every probability. */
const DRAWN = 20;
/** The same ones for every trainer. */
const SEED = 1;

export const sftLossProperties: readonly Property<LogitBatch>[] = [
  {
    ...base,
    id: 'sft-loss/equals-the-reference',
    title: 'The SFT loss is the mean negative log-likelihood of the labelled tokens, shifted by one',
    why: 'Unshifted, the model learns to copy its input; shifted twice, to skip a token. Both losses fall nicely.',
    catches: ['LP-01', 'LP-03', 'MSK-04', 'MSK-06', 'LOSS-03', 'LOSS-08', 'LOSS-15', 'NUM-01'],
    settles: ['sft_objective', 'sft_aggregation', 'loss_normalization'],
    given: given(),
    coverage,
    async check(subject, drawn) {
      const args = argsOf(drawn);
      const { loss } = await subject.ask('sft_loss', args);
      const variants = expectations(subject, args);
      const band = bandOf(subject, args.labels.flat().length);
      if (variants.some((variant) => band.close(loss, variant.loss))) return undefined;
      const expected = variants[0] ?? sftLoss(args.logits, args.labels);
      const cause = await explained(subject);
      return numberFinding({
        kind: 'loss',
        sentence: `The SFT loss over ${many(expected.tokens, 'labelled token')} is ${show(loss)}; the reference gives ${show(expected.loss)}.${causeWords(cause)}`,
        band,
        pairs: [{ where: 'loss', expected: expected.loss, observed: loss }],
        ...(cause?.proven === true
          ? {}
          : answersOf(subject, 'sft_loss', ['sft_objective', 'sft_aggregation'])),
      });
    },
  },
  {
    ...base,
    id: 'sft-loss/gradient-exactly-where-labels-are',
    title:
      'Where the trainer tells loss weights, they are nonzero exactly on labelled tokens and equal, or with DFT their probabilities',
    why: 'Gradient on an ignored label trains the prompt or the padding.',
    catches: ['MSK-01', 'MSK-06', 'ZL-02', 'LOSS-15'],
    given: given(),
    coverage,
    async check(subject, drawn) {
      const args = argsOf(drawn);
      const { loss, loss_weights: observed } = await subject.ask('sft_loss', args);
      if (observed === undefined) return discard('the answer has no loss_weights', 'trainer');
      const band = bandOf(subject, args.labels.flat().length);
      const variants = expectations(subject, args);
      const at = (row: number, column: number): number => observed[row]?.[column] ?? 0;
      const right = (want: number, row: number, column: number): boolean =>
        band.close(at(row, column), want) || (Number.isNaN(observed[row]?.[column]) && want === 0);
      const wrongIn = (weights: Matrix): Place | undefined =>
        placeOf(weights, (want, row, column) => !right(want, row, column));
      const wrong = variants.map(({ weights }) => wrongIn(weights));
      const [first] = wrong;
      if (first === undefined || wrong.includes(undefined)) return undefined;
      const [expected] = variants;
      const weights = expected?.weights ?? [];
      const own = subject.semantics.own_formulas?.includes('sft_loss') === true;
      // A formula of one's own weighs labels as it likes, none at all included, but pulls at no other token and pushes none away.
      const astray = placeOf(weights, (want, row, column) =>
        want === 0 ? !right(want, row, column) : !(at(row, column) < 0 || band.close(at(row, column), 0)),
      );
      const idle = weights.every((row, b) => row.every((want, t) => want === 0 || at(b, t) === 0));
      const isFormula = astray === undefined && !(idle && (await trainsNothing(subject)));
      if (isFormula && own) return undefined;
      // With the loss of a known formula, a label without gradient is one that was left out of it. One that is all but certain
      // adds nothing to any formula.
      const isKnown = variants.some((variant) => band.close(loss, variant.loss));
      const logprobs = logprobsOf(args.logits, args.labels);
      const isLeftOut =
        isKnown &&
        placeOf(
          weights,
          (want, b, t) =>
            want !== 0 && at(b, t) === 0 && !band.close(loss - want * (logprobs[b]?.[t] ?? 0), loss),
        ) !== undefined;
      const [row, column] = own ? (astray ?? first) : first;
      const label = args.labels[row]?.[column];
      const wanted = show(weights[row]?.[column]);
      return {
        kind: isLeftOut ? 'left out' : 'weight',
        ...(isFormula && !isLeftOut
          ? answersOf(subject, 'sft_loss', ['sft_objective', 'sft_aggregation'])
          : {}),
        sentence: `Token ${column} of row ${row} has label ${label} and gradient ${show(observed[row]?.[column])}; ${
          !own || label === IGNORE_INDEX
            ? `${wanted} is right`
            : astray === undefined
              ? 'no label has one, in any batch'
              : 'towards its label it is below 0'
        }.`,
      };
    },
  },
  {
    ...base,
    id: 'sft-loss/trained-tokens-are-counted',
    title: 'The number of trained tokens that the trainer reports is the number of labels that are not -100',
    why: 'The count is what gradient accumulation divides by: counted with prompt and padding, every step is too small.',
    catches: ['LOSS-01', 'LOSS-03', 'ZL-02'],
    given: given(),
    coverage,
    async check(subject, drawn) {
      const args = argsOf(drawn);
      const { trained_tokens: observed } = await subject.ask('sft_loss', args);
      if (observed === undefined) return discard('the answer has no trained_tokens', 'trainer');
      const { tokens } = sftLoss(args.logits, args.labels);
      if (observed === tokens) return undefined;
      return {
        kind: 'count',
        sentence: `The trainer reports ${observed} trained tokens; ${tokens} labels are not ${IGNORE_INDEX}.`,
      };
    },
  },
  {
    ...base,
    id: 'sft-loss/padding-does-not-matter',
    title: 'Logits at padding do not change the SFT loss',
    why: 'A loss that reads padding depends on the longest row of the batch.',
    catches: ['MSK-06', 'LOSS-11', 'PAD-09'],
    given: given(2),
    coverage: { 'unequal rows': 0.3 },
    check: (subject, drawn) =>
      same(subject, argsOf(drawn), argsOf(drawn, { junk: JUNK }), 'when only logits at padding change'),
  },
  {
    ...base,
    id: 'sft-loss/first-column-is-not-counted',
    title: 'A label at column 0, which nothing predicts, does not change the SFT loss',
    why: 'Where every token is labelled, a count taken before the shift has one token per row too many, and short rows train less.',
    catches: ['LOSS-01', 'LOSS-03'],
    given: given(),
    coverage: { 'several rows': 0.3 },
    check: (subject, drawn) => {
      const args = argsOf(drawn);
      const labels = args.labels.map((row, at) =>
        row.map((label, column) =>
          column === 0 && args.attention_mask[at]?.[0] === 1 ? (args.input_ids[at]?.[0] ?? label) : label,
        ),
      );
      return same(subject, args, { ...args, labels }, 'when the first token of a row is labelled as well');
    },
  },
];

/** Large enough to show in any sum that reads it, small enough for float16. */
const JUNK = 1000;

export const sftLossRelations: readonly Property<LogitBatch>[] = relations<'sft_loss', LogitBatch>({
  op: 'sft_loss',
  stage: 'sft_loss',
  prefix: 'sft-loss/',
  noun: 'The SFT loss',
  given: given(2),
  args: (drawn, world) => {
    const args = argsOf(drawn, { split: true });
    return { ...args, ...(world.hello.ops.sft_loss?.ranks ? { ranks: args.micro_batches } : {}) };
  },
  labels: logitLabels,
  coverage: { 'unequal rows': 0.3, 'several micro-batches': 0.3 },
  allBut: [],
  relations: {
    padding: { catches: ['LOSS-11', 'MSK-06'] },
    'micro-batches': { catches: ['LOSS-01', 'LOSS-12', 'LP-03'] },
    'many-micro-batches': { catches: ['LOSS-03', 'LOSS-12'] },
    ranks: { catches: ['LOSS-02', 'LOSS-09'] },
    untrained: { catches: ['NUM-01', 'TRN-04'], level: 'should' },
    stacked: { catches: ['LOSS-03', 'LOSS-11'] },
    long: { catches: ['LOSS-03', 'LOSS-11'] },
    inputs: { catches: ['MSK-06'] },
  },
});
