// What the loss of a reward model does whatever its numbers: it falls towards the chosen answer, reads differences and margins as
// one, stays finite, and takes each pair for itself.
import {
  type Args,
  bandOf,
  discard,
  type Finding,
  type Property,
  relations,
  type ScoredPairs,
  type Subject,
  scoredPairLabels,
  scoredPairs,
  show,
  type World,
} from '../../../src/index.ts';
import { argsOf, base, coverage, each, KNOWN, scoresOf } from './cases.ts';

const towardsChosen: Property<ScoredPairs> = {
  ...base,
  id: 'reward_loss/a-pair-swapped-costs-more',
  title: 'Pairs whose chosen score is the higher do not cost more than the same pairs the other way round',
  why: 'A sign or a swap makes the model score the rejected answers higher, with a loss curve that looks well.',
  catches: ['LOSS-13'],
  given: () => scoredPairs(),
  coverage: { 'several rows': 0.3 },
  async check(subject, drawn): Promise<Finding | undefined> {
    const right = each(drawn, ({ chosen, rejected }) => ({
      chosen: Math.max(chosen, rejected),
      rejected: Math.min(chosen, rejected),
    }));
    const wrong = each(right, ({ chosen, rejected }) => ({ chosen: rejected, rejected: chosen }));
    const { loss } = await subject.ask('reward_loss', scoresOf(right));
    const { loss: swapped } = await subject.ask('reward_loss', scoresOf(wrong));
    if (loss <= swapped + bandOf(subject, drawn.rows.length).allowed(swapped)) return undefined;
    return {
      kind: 'slope',
      sentence: `Every chosen score is at least as high as its rejected one, and the loss is ${show(loss)}; with each pair the other way round it is ${show(swapped)}, which is less.`,
    };
  },
};

/** The two requests are one to the loss. */
async function sameLoss(
  subject: Subject,
  [one, two]: readonly [Args<'reward_loss'>, Args<'reward_loss'>],
  when: string,
): Promise<Finding | undefined> {
  const before = await subject.ask('reward_loss', one);
  const after = await subject.ask('reward_loss', two);
  const band = bandOf(subject, one.chosen_scores.length);
  const row = before.losses?.findIndex((value, at) => !band.close(after.losses?.[at], value)) ?? -1;
  const [name, was, is] = band.close(after.loss, before.loss)
    ? [`the loss of pair ${row}`, before.losses?.[row], after.losses?.[row]]
    : ['the loss', before.loss, after.loss];
  if (name !== 'the loss' && row < 0) return undefined;
  return {
    kind: 'another loss',
    sentence: `${when}, ${name} goes from ${show(was)} to ${show(is)}; it should stay.`,
    note: band.reason,
  };
}

/** Exact beside any score that is drawn. */
const SHIFT = 4;

const differences: Property<ScoredPairs> = {
  ...base,
  id: 'reward_loss/depends-on-the-difference-alone',
  title:
    'Both scores of each pair raised by one number, the loss is what it was, unless it keeps scores around 0',
  why: 'Scores of a reward model mean something beside each other only: what squashes or scales each by itself stops learning where they are high.',
  catches: ['LOSS-08'],
  needs: [
    ...KNOWN,
    ({ semantics: { reward_centering: centering } }) =>
      centering === 0 ? undefined : 'scores are kept around 0 (reward_centering)',
  ],
  given: () => scoredPairs(),
  coverage,
  async check(subject, drawn) {
    const raised = each(drawn, ({ chosen, rejected }) => ({
      chosen: chosen + SHIFT,
      rejected: rejected + SHIFT,
    }));
    const requests = [argsOf(drawn, subject), argsOf(raised, subject)] as const;
    return sameLoss(subject, requests, `With ${SHIFT} added to every score`);
  },
};

const takesMargins = ({ hello }: World): string | undefined =>
  hello.ops.reward_loss?.margins === true ? undefined : 'op `reward_loss` does not offer margins';

const boundary: Property<ScoredPairs> = {
  ...base,
  id: 'reward_loss/margin-moves-the-boundary',
  title: 'A margin costs what it costs to have the two scores nearer by that much',
  why: 'Added instead of subtracted, a margin asks least of the pairs whose answers differ most; not read, the data that was paid for it is lost.',
  catches: ['LOSS-08'],
  needs: [...KNOWN, takesMargins],
  given: () => scoredPairs().map((drawn) => each(drawn, ({ margin }) => ({ margin: margin + 1 }))),
  coverage,
  async check(subject, drawn) {
    // Half to either side, so that their sum is what it was.
    const nearer = each(drawn, ({ chosen, rejected, margin }) => ({
      chosen: chosen - margin / 2,
      rejected: rejected + margin / 2,
    }));
    const requests = [argsOf(drawn, subject), scoresOf(nearer)] as const;
    return sameLoss(subject, requests, 'With each margin taken off the difference of its scores instead');
  },
};

const gradient: Property<ScoredPairs> = {
  ...base,
  id: 'reward_loss/gradient-draws-the-scores-apart',
  title: 'A step down the gradient raises each chosen score against its rejected one',
  why: 'The optimiser gets the gradient, not the loss. With the wrong sign, or on another row, it trains the worse answers up.',
  catches: ['LOSS-13', 'PAD-08'],
  needs: KNOWN,
  given: () => scoredPairs(),
  coverage,
  async check(subject, drawn): Promise<Finding | undefined> {
    const answer = await subject.ask('reward_loss', argsOf(drawn, subject));
    const { chosen_weights: up, rejected_weights: down } = answer;
    if (up === undefined || down === undefined)
      return discard('the answer has no chosen_weights, or no rejected_weights', 'trainer');
    const band = bandOf(subject, drawn.rows.length);
    for (const [row, chosen] of up.entries()) {
      const rejected = down[row] ?? Number.NaN;
      if (chosen - rejected <= band.allowed(Math.max(Math.abs(chosen), Math.abs(rejected)))) continue;
      return {
        kind: 'sign',
        sentence: `The gradient by the chosen score of pair ${row} is ${show(chosen)}, and by its rejected score ${show(rejected)}: a step down it takes the two nearer, or the rejected one ahead.`,
        note: band.reason,
      };
    }
    return undefined;
  },
};

const parts: Property<ScoredPairs> = {
  ...base,
  id: 'reward_loss/the-mean-of-its-parts',
  title: 'The loss of a batch is the mean of those of its two parts, each weighed by its pairs',
  why: 'A sum, or a pair that is compared with one of its neighbours, makes the step depend on how a batch is cut.',
  catches: ['LOSS-03', 'PAD-08'],
  needs: KNOWN,
  given: () => scoredPairs({ minRows: 2 }),
  coverage,
  async check(subject, drawn): Promise<Finding | undefined> {
    const [first, ...others] = drawn.rows;
    if (first === undefined || others.length === 0) return discard('there is one pair only');
    const ask = async (rows: ScoredPairs['rows']): Promise<number> =>
      (await subject.ask('reward_loss', argsOf({ rows }, subject))).loss;
    const [whole, alone, rest] = [await ask(drawn.rows), await ask([first]), await ask(others)];
    const expected = (alone + others.length * rest) / drawn.rows.length;
    const band = bandOf(subject, drawn.rows.length);
    if (band.close(whole, expected)) return undefined;
    return {
      kind: 'parts',
      sentence: `The loss of ${drawn.rows.length} pairs is ${show(whole)}; that of the first is ${show(alone)} and of the others ${show(rest)}, whose mean over pairs is ${show(expected)}.`,
      note: band.reason,
    };
  },
};

/** The square of a sum of such scores leaves the range of float16. */
const wide = ({ hello }: World): string | undefined =>
  hello.dtype === 'float16' ? 'float16 ends at 65504' : undefined;

const shared = {
  op: 'reward_loss',
  stage: 'reward_loss',
  noun: 'The loss of a reward model',
  args: argsOf,
  labels: scoredPairLabels,
} as const;

/** Without the gradient, which is a pair's share of the batch. */
const shares = {
  ...shared,
  async observe(subject: Subject, args: Args<'reward_loss'>) {
    const { chosen_weights: _, rejected_weights: __, ...fields } = await subject.ask('reward_loss', args);
    return { fields };
  },
};

/** Both answers with one score, where no loss is flat. */
const undecided = (drawn: ScoredPairs): ScoredPairs => each(drawn, ({ chosen }) => ({ rejected: chosen }));

export const rewardLossRelations: readonly Property<ScoredPairs>[] = [
  towardsChosen,
  differences,
  boundary,
  gradient,
  parts,
  ...relations<'reward_loss', ScoredPairs>({
    ...shared,
    given: () => scoredPairs({ extremes: true }),
    coverage: { 'an extreme difference': 0.15 },
    relations: {
      finite: {
        catches: ['NUM-05'],
        why: 'log(sigmoid(x)) is minus infinity as soon as the sigmoid rounds to 0, and log(1 + exp(-x)) as soon as exp overflows: one hopeless pair ends the run.',
        needs: [wide],
      },
    },
  }),
  ...relations<'reward_loss', ScoredPairs>({
    ...shared,
    given: () => scoredPairs({ minRows: 2 }),
    coverage,
    allBut: ['finite', 'batch-mates', 'counts'],
    relations: {
      stacked: { catches: ['LOSS-03'] },
      inputs: { catches: ['LOSS-08'] },
    },
  }),
  ...relations<'reward_loss', ScoredPairs>({
    ...shares,
    given: () => scoredPairs({ minRows: 2 }),
    coverage,
    relations: {
      'batch-mates': { needs: KNOWN },
    },
  }),
  ...relations<'reward_loss', ScoredPairs>({
    ...shared,
    given: () => scoredPairs().map(undecided),
    coverage: { 'several rows': 0.3 },
    relations: { counts: { catches: ['LOSS-08', 'LOSS-13'] } },
  }),
];
