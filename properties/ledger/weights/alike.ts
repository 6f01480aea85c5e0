// Where nobody declares an aggregation: the sums of weights of a script's supervised steps, which are one number in a mean
// over tokens or rows, and follow a count of tokens or rows in a sum. One that follows the padding is none of these.
import {
  commonOf,
  type Ledger,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  many,
  type Rough,
  show,
} from '../../../src/index.ts';
import { asides, type Found, judgementOf } from '../words.ts';
import { accumulated } from './accumulated.ts';
import { type Taught, taughtStep, UNKNOWN_STEP } from './counts.ts';
import { supervisedAggregation } from './declared.ts';

/** How far sums of one way are apart, by rounding. */
const EXACT = 1e-3;
const ROUGH = 0.05;

export const stepsAlike: LedgerProperty = {
  id: 'trace/steps-weigh-alike',
  title: 'The weight of a supervised step does not depend on its padding or its prompts',
  stage: 'trace',
  level: 'should',
  why: 'A mean that counts pads and prompts lowers the learning rate of whatever stands beside a long row, and the logged loss with it.',
  catches: ['LOSS-03', 'LOSS-11'],
  needs: (ledger) => {
    const { sft_aggregation, sft_objective, own_formulas } = ledger.settings.semantics;
    if (supervisedAggregation(ledger.settings) !== undefined)
      return `sft_aggregation is declared (${sft_aggregation}): trace/weights-follow-the-aggregation checks the steps`;
    if (sft_objective === 'dft') return 'sft_objective "dft" weighs each token by its probability';
    if (own_formulas?.includes('sft_loss') === true)
      return 'own_formulas declares a loss that is none of those known';
    return knownSteps(ledger).length === 0
      ? 'no finished step is supervised, with weights that are all known'
      : undefined;
  },
  judge: (ledger) => {
    const steps = knownSteps(ledger);
    const aside = asides(ledger.steps.length - steps.length, UNKNOWN_STEP);
    const way = WAYS.find(({ of, fault }) => isOne(steps, of) && (fault === undefined || isSure(steps, of)));
    const shapes = new Set(steps.map(shapeOf)).size;
    if (shapes > 1) {
      if (way?.fault !== undefined) {
        const { fault } = way;
        return judgementOf(steps.length, aside, [following(steps, fault, way.of)]);
      }
      if (way !== undefined)
        return noticed(judgementOf(steps.length, aside, [], { [way.name]: steps.length }), [
          accumulated(ledger, steps),
        ]);
    }
    const notices = [accumulated(ledger, steps), changing(steps), padded(steps)];
    const why =
      shapes > 1
        ? 'the weights of the steps follow no known count'
        : 'all steps have as many tokens, rows and columns';
    return noticed(judgementOf(0, [...asides(steps.length, why), ...aside], []), notices);
  },
};

// --- helpers ---

/** With the first of the notices. */
function noticed(judgement: LedgerJudgement, all: readonly (LedgerNotice | undefined)[]): LedgerJudgement {
  const notices = all.filter((each) => each !== undefined).slice(0, 1);
  return notices.length === 0 ? judgement : { ...judgement, notices };
}

const knownSteps = (ledger: Ledger): Taught[] =>
  ledger.steps.map((step) => taughtStep(ledger, step)).filter((step) => step !== undefined);

/** What a sum of weights is a multiple of. */
interface Way {
  readonly name: string;
  readonly of: (step: Taught) => number;
  /** What stands in the denominator and should not. */
  readonly fault?: string;
}

/** The legal ones first: where counts do not tell two apart, nobody is blamed. */
const WAYS: readonly Way[] = [
  { name: 'a mean: the steps weigh alike', of: () => 1 },
  { name: 'a sum over tokens, or one constant for all', of: ({ tokens }) => tokens },
  { name: 'a sum over rows', of: ({ taughtRows }) => taughtRows },
  { name: 'a sum over rows, and one constant for all', of: ({ rows }) => rows },
  { name: 'tokens over rows', of: ({ tokens, rows }) => tokens / rows },
  { name: 'a mean that counts rows without a target', of: ({ taughtRows, rows }) => taughtRows / rows },
  { name: 'a mean that counts first tokens', of: ({ tokens, firsts }) => tokens / (tokens + firsts) },
  ...(
    [
      ['columns', 'prompts and pads, by the columns of the padded batch'],
      ['allColumns', 'prompts and pads, by all columns of the padded batch'],
      ['predicted', 'prompts, by the tokens of the rows'],
      ['real', 'prompts, by all tokens of the rows'],
    ] as const
  ).map(([count, fault]) => ({ name: count, of: (step: Taught) => step.tokens / step[count], fault })),
];

const roomOf = ({ dtype }: Taught): number => (dtype === 'float32' || dtype === 'float64' ? EXACT : ROUGH);

/** Accumulated over as many micro-batches each time, the sums are one multiple of this count. */
function isOne(steps: readonly Taught[], of: Way['of']): boolean {
  if (new Set(steps.map(({ accumulated }) => accumulated)).size > 1) return false;
  const shares = steps.map((step): Rough => ({ value: step.sum / of(step), relative: roomOf(step) }));
  return commonOf(shares) !== undefined;
}

/** Two steps are one multiple of a count by chance now and then; three, or a multiple of 1, are not. */
function isSure(steps: readonly Taught[], of: Way['of']): boolean {
  if (new Set(steps.map(shapeOf)).size >= SURE) return true;
  return steps.every((step) =>
    [1, step.accumulated, 1 / step.accumulated].some(
      (factor) => Math.abs(step.sum / of(step) / factor - 1) <= roomOf(step),
    ),
  );
}

const SURE = 3;

const shapeOf = ({ tokens, rows, taughtRows, columns, predicted, accumulated }: Taught): string =>
  [tokens, rows, taughtRows, columns, predicted, accumulated].join();

function following(steps: readonly Taught[], fault: string, of: Way['of']): Found {
  const sorted = steps.toSorted((a, b) => a.sum - b.sum);
  const [light, heavy] = [sorted[0], sorted.at(-1)];
  const said = (step: Taught | undefined): string =>
    step === undefined
      ? ''
      : `${show(step.sum)} in step ${step.step} (${many(step.tokens, 'trained token')}, ${many(step.columns, 'padded column')}, ${step.predicted} of them within the rows)`;
  return {
    harm: (heavy?.sum ?? 1) / (light?.sum ?? 1),
    tell: () => ({
      kind: 'denominator',
      sentence: `The weights of a step add up to ${said(light)} and to ${said(heavy)}: the denominator counts ${fault}.`,
      numbers: sorted.map((step) => ({
        where: `sum of weights of step ${step.step}`,
        expected: heavy?.sum ?? Number.NaN,
        observed: step.sum,
        allowed: roomOf(step) * (heavy?.sum ?? Number.NaN),
      })),
      note: 'Divide by the labels that are trained, from the mask that the numerator has. Nothing is declared; a mean of all steps alike, a sum over tokens or rows, and one constant for all are legal.',
      given: steps.map((step) => ({
        step: step.step,
        sum: step.sum,
        trained_tokens: step.tokens,
        padded_columns: step.columns,
        tokens_of_rows: step.predicted,
        share: of(step),
      })),
    }),
  };
}

/** All tokens of each micro-batch weigh the same, and something. */
const isEven = ({ batches, sum }: Taught): boolean =>
  sum !== 0 && batches.every(({ weights }) => commonOf(weights) !== undefined);

/** Steps of one shape that weigh differently. */
function changing(steps: readonly Taught[]): LedgerNotice | undefined {
  for (const [at, step] of steps.entries()) {
    // Weights of a form of their own (a focal loss, a term that leaves nothing of it) add up to whatever they do.
    if (!isEven(step)) continue;
    const other = steps.slice(at + 1).find((each) => shapeOf(each) === shapeOf(step) && isEven(each));
    if (other === undefined || Math.abs(other.sum / step.sum - 1) <= roomOf(step)) continue;
    return {
      sentence: `Steps ${step.step} and ${other.step} have the same rows, columns and ${many(step.tokens, 'trained token')}, and their weights add up to ${show(step.sum)} and ${show(other.sum)}: a coefficient of the loss that changes from step to step does this.`,
      answers: ['"own_formulas": ["sft_loss"]'],
    };
  }
  return undefined;
}

/** Each token weighs exactly one over the columns, pads and prompts among them; and the columns never change. */
function padded(steps: readonly Taught[]): LedgerNotice | undefined {
  const counts = ['columns', 'allColumns'] as const;
  for (const count of counts) {
    const exact = steps.every(
      (step) =>
        step.columns > step.predicted &&
        [1, step.accumulated].some(
          (factor) => Math.abs((step.sum * step[count]) / (step.tokens * factor) - 1) <= EXACT,
        ),
    );
    const [first] = steps;
    if (exact && first !== undefined && roomOf(first) === EXACT)
      return {
        sentence: `The weights of the ${many(first.tokens, 'trained token')} of step ${first.step} add up to ${show(first.sum)}, which is ${first.tokens} / ${first[count]}, its padded columns: prompts and pads are in the mean, unless a constant length is meant.`,
        answers: ['"own_formulas": ["sft_loss"]'],
      };
  }
  return undefined;
}
