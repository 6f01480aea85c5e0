// Optimiser steps: each trains something, moves the policy, and meets gradients that are numbers.
import {
  type Ledger,
  type LedgerFinding,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  type LedgerStep,
  many,
  scoresOnly,
  show,
  targetsOf,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { groupRelative } from '../weights/declared.ts';
import { aside, type Found, givenOf, judgementOf, placeOf, rowStrip, type Said } from '../words.ts';
import { judge, type Made, manyPushed, needsStep } from './made.ts';

// --- every step trains ---

const everyStep: LedgerProperty = {
  id: 'trace/every-step-trains',
  title: 'Every finished optimiser step has trained at least one token',
  stage: 'trace',
  level: 'must',
  why: 'All labels ignored, a loss that is never called, a batch that is decoded as another one: the run goes on, the log shows a number, and nothing is learnt.',
  catches: ['ZL-01', 'ZL-02'],
  needs: needsStep,
  judge: (ledger) => {
    const none = ledger.rows.every((row) => targetsOf(row).length === 0);
    return judge(ledger, (step, made) => trainedIn(ledger, step, made, none));
  },
};

function trainedIn(ledger: Ledger, step: LedgerStep, made: readonly Made[], none: boolean): Said {
  const rows = ledger.rows.filter((row) => row.step === step.index);
  // What is not a number was trained, and is another rule's business.
  if (rows.some((row) => targetsOf(row).length > 0 || row.notFinite > 0)) return 'good';
  // Gradients came from where the trace does not look: a value head, a loss of hidden states, a fused kernel.
  if (made.some(({ gradientNorm }) => gradientNorm !== null && gradientNorm > 0))
    return aside('the gradients came from where the trace does not look');
  // No gradient is recorded, and something moved: there was one that is not a number, or not to be seen.
  if (made.some(({ gradientNorm, changed }) => gradientNorm === null && changed))
    return aside('parameters moved without a gradient that was seen');
  if (ledger.processes.some(({ blind }) => blind.length > 0))
    return aside('the trace could not see into a part of the script');
  if (rows.length === 0)
    // An optimiser that is called once more at the end finds no gradient and does nothing.
    return none ? dead(ledger, step, rows, NO_ROWS) : aside('no forward pass was made for the step');
  const reached = rows.filter((row) => row.reached);
  if (reached.length === 0) return dead(ledger, step, rows, NOT_REACHED);
  return mayBeZero(ledger, reached)
    ? aside('all advantages of the step may be 0')
    : dead(ledger, step, rows, ONLY_ZEROS);
}

/** Groups without variance have advantages of 0: a step of only such groups is legal, and its gradient is exactly 0. */
function mayBeZero(ledger: Ledger, reached: readonly LedgerRow[]): boolean {
  return (
    groupRelative(ledger.settings) !== undefined ||
    reached.some(({ spans }) => spans.origin.kind === 'generation') ||
    // Rewards and advantages of a script of its own: it samples, or pushes some tokens down.
    (ledger.settings.trainer === undefined &&
      (ledger.generations.length > 0 ||
        ledger.rows.some((row) => targetsOf(row).some(({ trained: { weight = 0 } }) => weight < 0))))
  );
}

const NO_ROWS = 'the optimiser holds a model, but no forward pass with gradients was made';
const NOT_REACHED =
  'no backward pass reached a forward pass of the model: its loss is not part of what is differentiated';
const ONLY_ZEROS =
  'the backward pass brought zeros to every position: all labels are ignored, or the loss is 0';

function dead(ledger: Ledger, step: LedgerStep, rows: readonly LedgerRow[], why: string): Found {
  const [row] = rows;
  return {
    harm: rows.length,
    tell: (): LedgerFinding => ({
      kind: 'dead',
      sentence: `Step ${step.index} of the optimiser (${step.ranks[0]?.optimizer}) trained no ${scoresOnly(ledger) ? 'score' : 'token'} of ${many(rows.length, 'row')}: ${why}.`,
      numbers: [{ where: `trained tokens of step ${step.index}`, expected: 1, observed: 0, allowed: 0 }],
      // The row that most should have been trained comes first in most batches.
      ...(row === undefined ? {} : { strips: [rowStrip(ledger, row, expectedColumns(row))] }),
      note: 'Look at the labels of the batch, at what the loss function is called with, and at whether its result reaches backward().',
      given: {
        step: step.index,
        rows: rows.length,
        reached: rows.filter(({ reached }) => reached).length,
        ranks: step.ranks.map(({ rank, optimizer, done }) => ({
          rank,
          optimizer,
          gradient_norm: done?.gradientNorm ?? null,
          changed: done?.changed ?? null,
        })),
      },
    }),
  };
}

const expectedColumns = ({ spans }: LedgerRow): number[] =>
  spans.expected.flatMap((each, column) => (each === true ? [column] : []));

// --- the policy moves ---

const HALF = new Set(['bfloat16', 'float16']);

const moves: LedgerProperty = {
  ...factsOf('update/policy-moves'),
  title: 'An optimiser step that has trained something changes the parameters',
  needs: needsStep,
  judge: (ledger) =>
    judge(ledger, (step, made) => {
      const rows = ledger.rows.filter((row) => row.step === step.index);
      const weights = rows.flatMap(targetsOf).map(({ trained: { weight } }) => weight ?? 0);
      const pushed = weights.some((weight) => weight !== 0);
      // At a learning rate of 0, where warm-up begins, nothing should move; nor is it known without one.
      const live = made.some(({ learningRates }) => learningRates.some((rate) => rate > 0));
      const norm = made.some(({ gradientNorm }) => gradientNorm !== null && gradientNorm > 0);
      if (!pushed) return aside('the step trains nothing');
      if (!live) return aside('the learning rate is 0, or not known');
      if (!norm) return aside('no gradient was seen at the step');
      if (made.some(({ changed }) => changed)) return 'good';
      // A small update of a large weight is rounded away in half precision, and only a sample of weights is compared.
      if (ledger.models.some(({ role, dtype }) => role === 'policy' && HALF.has(dtype)))
        return aside('a small update may be lost in half precision');
      return still(step, made, manyPushed(ledger, weights.length), weights.length);
    }),
};

function still(step: LedgerStep, made: readonly Made[], pushed: string, tokens: number): Found {
  const rates = made.flatMap(({ learningRates }) => learningRates);
  return {
    harm: tokens,
    tell: () => ({
      kind: 'still',
      sentence: `Step ${step.index} has gradients from ${pushed}, and the optimiser (${step.ranks[0]?.optimizer}) left every parameter that was compared as it was, at a learning rate of ${show(Math.max(...rates))}.`,
      note: 'The optimiser may hold other tensors than those of the model: one that was copied, wrapped or sharded after it was made.',
      given: {
        step: step.index,
        gradient_norms: made.map(({ gradientNorm }) => gradientNorm),
        learning_rates: rates,
      },
    }),
  };
}

// --- gradients are numbers ---

const finite: LedgerProperty = {
  id: 'trace/gradients-are-finite',
  title: 'No gradient of a trained row is NaN or infinite',
  stage: 'trace',
  level: 'must',
  why: 'One position that is not a number makes every weight of the model one after the next step.',
  catches: ['NUM-01', 'NUM-02', 'NUM-03', 'NUM-05', 'NUM-06'],
  needs: (ledger) =>
    ledger.rows.some(({ reached }) => reached)
      ? undefined
      : 'no backward pass reached a row that the trace saw',
  judge: (ledger) => {
    const reached = ledger.rows.filter((row) => row.reached);
    const bad = new Map<string, LedgerRow[]>();
    const left: string[] = [];
    const leftOut: LedgerRow[] = [];
    for (const row of reached) {
      if (row.notFinite === 0) continue;
      if (wasLeftOut(ledger, row)) {
        leftOut.push(row);
        left.push('the script left the forward pass out');
        continue;
      }
      // Scaled gradients overflow in float16, the scaler sees it and leaves the step out: that is how it works.
      if (row.dtype === 'float16' || wasSkipped(ledger, row)) {
        left.push(
          wasSkipped(ledger, row)
            ? 'a gradient scaler left the step out'
            : 'scaled gradients may overflow in float16',
        );
        continue;
      }
      const key = `${row.rank} ${row.forward}`;
      bad.set(key, [...(bad.get(key) ?? []), row]);
    }
    const found = [...bad.values()].flatMap(([row]) => (row === undefined ? [] : [notNumbers(ledger, row)]));
    const judgement = judgementOf(reached.length - left.length, left, found);
    const [first] = leftOut;
    return first === undefined ? judgement : { ...judgement, notices: [leftOutNotice(ledger, first)] };
  },
};

/** The optimiser got numbers: the script saw it, and took the gradients of this pass back. */
const wasLeftOut = ({ steps }: Ledger, { step, rank }: LedgerRow): boolean =>
  steps.some(
    ({ index, ranks }) =>
      index === step &&
      ranks.some(
        ({ rank: own, done }) =>
          own === rank &&
          typeof done?.gradientNorm === 'number' &&
          done.gradientNorm > 0 &&
          done.closure !== true,
      ),
  );

const leftOutNotice = (ledger: Ledger, row: LedgerRow): LedgerNotice => ({
  sentence: `The gradient of ${many(row.notFinite, 'position')} is NaN or infinite in the forward pass of ${placeOf(ledger, row)}, and the optimiser got a finite one: the script left this pass out.`,
  answers: [],
  remark: true,
});

const wasSkipped = ({ steps }: Ledger, row: LedgerRow): boolean =>
  steps.some(
    ({ index, ranks }) =>
      index === row.step && ranks.some(({ rank, done }) => rank === row.rank && done?.skipped === true),
  );

function notNumbers(ledger: Ledger, row: LedgerRow): Found {
  return {
    harm: row.notFinite,
    tell: () => ({
      kind: 'not finite',
      sentence: `The gradient of ${many(row.notFinite, 'position')} is NaN or infinite in the forward pass of ${placeOf(ledger, row)}.`,
      strips: [rowStrip(ledger, row, [])],
      note: 'The count is of the whole forward pass, of which this is the first row. Look for a division by the tokens of an empty row, a product of 0 with what is masked, and a row that may attend to nothing.',
      given: givenOf(row),
    }),
  };
}

export const trainingProperties: readonly LedgerProperty[] = [everyStep, moves, finite];
