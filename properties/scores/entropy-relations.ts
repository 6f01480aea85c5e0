// The entropy under changes that must not matter: logits that no completion token is drawn from, tokens that are
// impossible, padding, the order of the rows, their batch mates.
import {
  type Args,
  bandOf,
  discard,
  type Finding,
  holesBehind,
  type LogitBatch,
  logitBatch,
  logitLabels,
  type Ok,
  type Property,
  relations,
  type Subject,
  show,
  underGaps,
} from '../../src/index.ts';
import { argsOf, base, coverage, entropies, fitsOf, laidOf, meanFits } from './entropy.ts';
import { counts, meansOf, wrongTokens } from './masked-numbers.ts';

/** The same request with other logits wherever no token of the mask is drawn from them. */
function elsewhere(args: Args<'entropy'>, junk: number): Args<'entropy'> {
  return {
    ...args,
    logits: args.logits.map((rows, at) =>
      rows.map((row, t) =>
        counts(args, at, t + 1) ? row : row.map((_, id) => (id % 2 === 0 ? junk : -junk)),
      ),
    ),
  };
}

/** The first entropy in the mask, or the mean, that changed. */
function changed(
  subject: Subject,
  args: Args<'entropy'>,
  before: Ok<'entropy'>,
  after: Ok<'entropy'>,
  when: string,
): Finding | undefined {
  const band = bandOf(subject, args.completion_mask.flat().length);
  const [first] =
    before.entropy === undefined
      ? []
      : wrongTokens(args, fitsOf(subject, args), after.entropy ?? [], before.entropy);
  if (first !== undefined) {
    const [row, column] = first;
    return {
      kind: 'elsewhere',
      sentence: `The entropy of token ${column} of row ${row} changes from ${show(before.entropy?.[row]?.[column])} to ${show(after.entropy?.[row]?.[column])} when ${when}.`,
    };
  }
  return before.mean_entropy === undefined || band.close(after.mean_entropy, before.mean_entropy)
    ? undefined
    : {
        kind: 'elsewhere',
        sentence: `The mean entropy changes from ${show(before.mean_entropy)} to ${show(after.mean_entropy)} when ${when}.`,
      };
}

/** Large enough to make a distribution certain, small enough for float16. */
const JUNK = 30;

const masked: Property<LogitBatch> = {
  ...base,
  id: 'entropy/logits-elsewhere-do-not-matter',
  title:
    'Logits from which no completion token is drawn (prompt, padding, tool output, the end) change no entropy',
  why: 'Padding is mostly certain or mostly uniform: an entropy that counts it follows the lengths of the batch.',
  catches: ['PPO-08', 'MSK-02'],
  coverage,
  async check(subject, drawn) {
    const { args } = laidOf(drawn);
    const before = await subject.ask('entropy', args);
    const after = await subject.ask('entropy', elsewhere(args, JUNK));
    return changed(
      subject,
      args,
      before,
      after,
      'only logits from which no token of the mask is drawn change',
    );
  },
};

const poison: Property<LogitBatch> = {
  ...base,
  id: 'entropy/nan-elsewhere-stays-there',
  title: 'NaN in logits from which no completion token is drawn reaches no entropy',
  why: 'Multiplying by a mask keeps NaN (0 * NaN is NaN): one bad padding value ends the run.',
  level: 'should',
  catches: ['NUM-02', 'NUM-03'],
  coverage,
  async check(subject, drawn) {
    const { args } = laidOf(drawn);
    const before = await subject.ask('entropy', args);
    const after = await subject.ask('entropy', elsewhere(args, Number.NaN));
    return changed(subject, args, before, after, 'logits from which no token of the mask is drawn are NaN');
  },
};

const impossible: Property<LogitBatch> = {
  ...base,
  id: 'entropy/impossible-tokens-add-nothing',
  title: 'A token whose logit is minus infinity adds nothing to the entropy',
  why: 'Vocabularies are padded and tokens banned with minus infinity; 0 * -inf is NaN, and the step is lost.',
  // Public trainers compute p log p as it stands, and train well while no logit is masked.
  level: 'should',
  catches: ['NUM-06'],
  coverage,
  async check(subject, drawn) {
    const { args } = laidOf(drawn);
    if (args.completion_mask.flat().every((on) => on === 0)) return discard('no token is in the mask');
    const banned = {
      ...args,
      logits: args.logits.map((rows) =>
        rows.map((row) => row.map((z, id) => (id === 0 ? Number.NEGATIVE_INFINITY : z))),
      ),
    };
    const answer = await subject.ask('entropy', banned);
    const expected = entropies(banned);
    const [first] =
      answer.entropy === undefined
        ? []
        : wrongTokens(banned, fitsOf(subject, banned), answer.entropy, expected);
    const broken =
      first !== undefined ||
      (answer.mean_entropy !== undefined &&
        !meanFits(subject, args, answer.mean_entropy, meansOf(expected, args.completion_mask)));
    if (!broken) return undefined;
    const where =
      first === undefined ? 'The mean entropy' : `The entropy of token ${first[1]} of row ${first[0]}`;
    const [observed, want] =
      first === undefined
        ? [answer.mean_entropy, meansOf(expected, args.completion_mask)[0]]
        : [answer.entropy?.[first[0]]?.[first[1]], expected[first[0]]?.[first[1]]];
    return {
      kind: 'impossible',
      sentence: `${where} is ${show(observed)} when token 0 of the vocabulary is impossible; the others alone have ${show(want)}.`,
    };
  },
};

export const entropyRelations: readonly Property<LogitBatch>[] = underGaps(holesBehind, [
  masked,
  poison,
  impossible,
  ...relations({
    op: 'entropy',
    stage: 'entropy',
    noun: 'The entropy',
    given: () => logitBatch({ temperatures: false, holes: true, minRows: 2 }),
    args: argsOf,
    labels: logitLabels,
    coverage: { 'unequal rows': 0.25 },
    allBut: [],
    relations: {
      // What is logged may leave out a row that broke; what is trained may not.
      'nan-shows': { level: 'should' },
      padding: { catches: ['PPO-08'] },
      inputs: { catches: ['PPO-08'] },
      'batch-mates': { catches: ['PPO-08'] },
      stacked: { catches: ['PPO-08'] },
      long: { catches: ['PPO-08'] },
    },
  }),
]);
