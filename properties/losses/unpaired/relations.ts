// What the loss of labelled completions does whatever its numbers: it falls towards desirable ones and away from undesirable ones,
// counts no KL below 0 and differentiates none, reads ratios to the reference alone, and takes the mean over all rows.
import {
  bandOf,
  discard,
  type Finding,
  type Labelled,
  labelledRowLabels,
  labelledRows,
  many,
  type Need,
  type PairToken,
  type Property,
  relations,
  type Subject,
  show,
} from '../../../src/index.ts';
import { argsOf, base, coverage, each, FORMULA, KNOWN, slackIn } from './cases.ts';

const lossOf = async (subject: Subject, drawn: Labelled): Promise<number> =>
  (await subject.ask('unpaired_preference_loss', argsOf(drawn))).loss;

/** Exact beside any log-probability that is drawn. */
const STEP = 4;
const moved = (tokens: readonly PairToken[], by: number): PairToken[] =>
  tokens.map(({ logprob, ref }) => ({ logprob: logprob + by, ref: ref + by }));

/** Desirable or not; all tokens, or one alone: a token of the wrong sign is outvoted by the others. */
const KINDS = [
  [true, false],
  [false, false],
  [true, true],
  [false, true],
] as const;

const towardsDesirable: Property<Labelled> = {
  ...base,
  id: 'unpaired_preference_loss/falls-towards-desirable-rows',
  title:
    'The loss does not fall when the policy finds desirable completions less likely, nor when it finds undesirable ones likelier',
  why: 'With a label or a sign the wrong way round the model learns to say what it should not, and the loss falls as nicely.',
  catches: ['LOSS-13'],
  given: () => labelledRows(),
  coverage,
  async check(subject, drawn): Promise<Finding | undefined> {
    // Every token as low as it takes for none to be above 0.
    const low = each(drawn, ({ tokens }) => ({ tokens: moved(tokens, -STEP) }));
    const size = drawn.rows.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const shifted = (kind: boolean, single: boolean): Labelled =>
      each(low, ({ desirable, tokens }) => ({
        tokens: tokens.map((token, t) =>
          desirable === kind && (!single || t === size % tokens.length)
            ? { ...token, logprob: token.logprob + (kind ? -STEP : STEP) }
            : token,
        ),
      }));
    const before = await lossOf(subject, low);
    const allowed = bandOf(subject, drawn.rows.length).allowed(before) + 2 * slackIn(subject, argsOf(low));
    for (const [kind, single] of KINDS) {
      const after = await lossOf(subject, shifted(kind, single));
      if (after >= before - allowed) continue;
      return {
        kind: 'slope',
        sentence: `The loss falls from ${show(before)} to ${show(after)} when the policy finds ${single ? 'one token of each' : 'each token of the'} ${kind ? 'desirable' : 'undesirable'} ${single ? 'completion' : 'completions'} ${STEP} nats ${kind ? 'less likely' : 'likelier'}.`,
      };
    }
    return undefined;
  },
};

/** The two are one to the loss. */
async function sameLoss(
  subject: Subject,
  one: Labelled,
  two: Labelled,
  when: string,
): Promise<Finding | undefined> {
  const [before, after] = [await lossOf(subject, one), await lossOf(subject, two)];
  const band = bandOf(subject, one.rows.length);
  const slack = slackIn(subject, argsOf(one)) + slackIn(subject, argsOf(two));
  if (Math.abs(after - before) <= band.allowed(Math.max(Math.abs(before), 1)) + slack) return undefined;
  return {
    kind: 'another loss',
    sentence: `${when}, the loss goes from ${show(before)} to ${show(after)}; it should stay.`,
    note: band.reason,
  };
}

const clamped: Property<Labelled> = {
  ...base,
  id: 'unpaired_preference_loss/no-kl-below-zero',
  title: 'A KL that is estimated below 0 counts as 0',
  why: 'A KL is never below 0, and its estimate often is: unclamped it makes completions look good that the policy has drifted away from.',
  catches: ['LOSS-13'],
  needs: KNOWN,
  given: () =>
    // The reference rates each mismatched completion higher than the policy does.
    labelledRows().map((drawn) =>
      each(drawn, ({ kl }) => ({
        kl: kl.map(({ logprob, ref }) => ({
          logprob: Math.min(logprob, ref) - 1,
          ref: Math.max(logprob, ref),
        })),
      })),
    ),
  coverage: { 'several rows': 0.3, 'both kinds of rows': 0.2, 'a KL below 0': 0.95 },
  async check(subject, drawn) {
    const even = each(drawn, ({ kl }) => ({ kl: kl.map(({ ref }) => ({ logprob: ref, ref })) }));
    return sameLoss(
      subject,
      even,
      drawn,
      'With log-ratios below 0 of what the KL is estimated from, not of 0',
    );
  },
};

const constant: Property<Labelled> = {
  ...base,
  id: 'unpaired_preference_loss/kl-has-no-gradient',
  title: 'Nothing is trained through the KL',
  why: 'The KL is the point that rows are compared with. A gradient through it pushes the policy towards mismatched completions, answers to other questions.',
  catches: ['LOSS-13'],
  needs: FORMULA,
  given: () => labelledRows(),
  coverage,
  async check(subject, drawn): Promise<Finding | undefined> {
    const { kl_weights: weights } = await subject.ask('unpaired_preference_loss', argsOf(drawn));
    if (weights === undefined) return discard('the answer has no kl_weights', 'trainer');
    for (const [row, values] of weights.entries()) {
      const t = values.findIndex((value) => value !== 0);
      if (t < 0) continue;
      return {
        kind: 'gradient',
        sentence: `The gradient by the log-probability of token ${t} of the KL's row ${row} is ${show(values[t])}; it should be 0.`,
      };
    }
    return undefined;
  },
};

const gradient: Property<Labelled> = {
  ...base,
  id: 'unpaired_preference_loss/gradient-raises-desirable-rows',
  title: 'A step down the gradient raises desirable completions and lowers undesirable ones',
  why: 'The optimiser gets the gradient, not the loss. With the wrong sign, or on another row, it trains undesirable answers up.',
  catches: ['LOSS-13', 'PAD-08'],
  needs: FORMULA,
  given: () => labelledRows(),
  coverage,
  async check(subject, drawn): Promise<Finding | undefined> {
    const { weights } = await subject.ask('unpaired_preference_loss', argsOf(drawn));
    if (weights === undefined) return discard('the answer has no weights', 'trainer');
    const largest = Math.max(...weights.flat().map(Math.abs));
    const allowed = bandOf(subject, drawn.rows.length).allowed(largest);
    for (const [row, values] of weights.entries()) {
      const { desirable } = drawn.rows[row] ?? { desirable: true };
      const t = values.findIndex((value) => (desirable ? value > allowed : value < -allowed));
      if (t < 0) continue;
      return {
        kind: 'sign',
        sentence: `The gradient by the log-probability of token ${t} of row ${row}, which is ${desirable ? 'desirable' : 'undesirable'}, is ${show(values[t])}: a step down it makes the completion ${desirable ? 'less likely' : 'likelier'}.`,
      };
    }
    return undefined;
  },
};

const reference: Property<Labelled> = {
  ...base,
  id: 'unpaired_preference_loss/only-ratios-to-the-reference-count',
  title: 'With policy and reference both less likely by one factor, the loss is what it was',
  why: 'Without its reference the loss likes short completions, whose log-probability is high, and those that were likely before.',
  catches: ['LOSS-13'],
  needs: FORMULA,
  given: () => labelledRows(),
  coverage,
  async check(subject, drawn) {
    const lower = each(drawn, ({ tokens, kl }) => ({ tokens: moved(tokens, -STEP), kl: moved(kl, -STEP) }));
    return sameLoss(
      subject,
      drawn,
      lower,
      `With ${STEP} taken off every log-probability of policy and reference`,
    );
  },
};

const parts: Property<Labelled> = {
  ...base,
  id: 'unpaired_preference_loss/the-mean-over-all-rows',
  title: 'Under one KL, the loss of a batch is the mean of those of its rows, desirable or not',
  why: 'With a mean over each kind by itself, or a sum, a row weighs what its batch happens to have beside it, and the weights of the two kinds mean nothing.',
  catches: ['LOSS-03'],
  needs: KNOWN,
  given: () => labelledRows({ minRows: 2 }),
  coverage: { 'both kinds of rows': 0.3 },
  async check(subject, drawn): Promise<Finding | undefined> {
    const [first] = drawn.rows;
    if (first === undefined) return discard('there is no row');
    const even = each(drawn, () => ({ kl: first.kl }));
    const whole = await lossOf(subject, even);
    let sum = 0;
    for (const row of even.rows) sum += await lossOf(subject, { rows: [row] });
    const expected = sum / even.rows.length;
    const band = bandOf(subject, even.rows.length);
    const slack = 2 * slackIn(subject, argsOf(even));
    if (Math.abs(whole - expected) <= band.allowed(Math.max(Math.abs(expected), 1)) + slack) return undefined;
    return {
      kind: 'parts',
      sentence: `The loss of ${many(even.rows.length, 'row')} is ${show(whole)}, and the mean of the losses of each by itself, under the same KL, ${show(expected)}.`,
      note: band.reason,
    };
  },
};

const shared = {
  op: 'unpaired_preference_loss',
  stage: 'unpaired_preference_loss',
  noun: 'The loss of labelled completions',
  args: argsOf,
  labels: labelledRowLabels,
} as const;

/** Policy and reference alike, where no loss is flat. */
const undecided = (drawn: Labelled): Labelled =>
  each(drawn, ({ tokens, kl }) => ({ tokens: alike(tokens), kl: alike(kl) }));
const alike = (tokens: readonly PairToken[]): PairToken[] =>
  tokens.map(({ ref }) => ({ logprob: ref - STEP, ref: ref - STEP }));

const weighed: Need = ({ semantics: { desirable_weight: desirable, undesirable_weight: undesirable } }) =>
  desirable === 0 || undesirable === 0 ? 'rows of one kind have the weight 0' : undefined;

export const unpairedLossRelations: readonly Property<Labelled>[] = [
  towardsDesirable,
  clamped,
  constant,
  gradient,
  reference,
  parts,
  ...relations<'unpaired_preference_loss', Labelled>({
    ...shared,
    given: () => labelledRows({ extremes: true }),
    coverage: { 'an extreme log-ratio': 0.15, 'one kind of rows': 0.15 },
    relations: {
      finite: {
        catches: ['KTO-02'],
        why: 'A batch has rows of one kind by chance, and the mean over none is NaN; exp overflows where a completion is hopeless. Either ends the run, or is left out of the mean unseen.',
      },
    },
  }),
  ...relations<'unpaired_preference_loss', Labelled>({
    ...shared,
    given: () => labelledRows({ minRows: 2 }),
    coverage,
    allBut: ['finite', 'counts'],
    relations: {
      stacked: { catches: ['LOSS-03'] },
      inputs: { catches: ['LOSS-08'] },
    },
  }),
  ...relations<'unpaired_preference_loss', Labelled>({
    ...shared,
    needs: [weighed],
    given: () => labelledRows().map(undecided),
    coverage: { 'several rows': 0.3, 'one kind of rows': 0.2 },
    relations: { counts: { catches: ['LOSS-13', 'MSK-06'] } },
  }),
];
