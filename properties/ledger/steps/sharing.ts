// Micro-batches of one step, where nobody declared how their losses are put together: whether they share the step.
import { type Ledger, type LedgerProperty, type LedgerRow, show, targetsOf } from '../../../src/index.ts';
import { policyAggregation, supervisedAggregation } from '../weights/declared.ts';
import { asides, type Found, judgementOf } from '../words.ts';
import { at, eventsOf, fault, groupedBy, madeSteps, needsStep, plural } from './made.ts';

interface Batch {
  readonly forward: number;
  readonly tokens: number;
  readonly sum: number;
}

interface Window {
  readonly index: number;
  readonly batches: readonly Batch[];
  readonly place: string | undefined;
  /** They are losses of several tasks, whose sum is meant. */
  readonly tasks: boolean;
}

const sharing: LedgerProperty = {
  id: 'update/micro-batches-share-a-step',
  title: 'Means of micro-batches are divided by the micro-batches of their step',
  stage: 'update',
  level: 'should',
  why: 'Accumulated losses that are not divided make the step as many times too large as there are micro-batches. A step of fewer micro-batches, as at the end of an epoch, is too small if it is divided by the full number.',
  catches: ['OPT-12'],
  needs: needsStep,
  judge: (ledger) => {
    const { settings, generations } = ledger;
    const declared =
      settings.trainer !== undefined ||
      supervisedAggregation(settings) !== undefined ||
      policyAggregation(settings) !== undefined;
    const made = madeSteps(ledger);
    if (declared)
      return judgementOf(0, asides(made.length, 'it is declared how losses are put together'), []);
    if (generations.length > 0) return judgementOf(0, asides(made.length, 'the script samples rows'), []);
    const windows = made.flatMap(({ step }) => windowOf(ledger, step.index));
    const several = windows.filter(({ batches }) => batches.length > 1);
    const most = Math.max(0, ...windows.map(({ batches }) => batches.length));
    const full = windows.some(
      ({ batches }) => batches.length === most && batches.every(({ sum }) => isNear(sum, 1 / most)),
    );
    const short =
      most > 1 && full
        ? windows.filter(
            ({ batches }) => batches.length < most && batches.every(({ sum }) => isNear(sum, 1 / most)),
          )
        : [];
    const alike = several.filter(({ tasks }) => !tasks);
    const undivided = alike.filter(({ batches }) =>
      batches.every(({ sum, tokens }) => isNear(sum, 1) && tokens > 1),
    );
    return judgementOf(
      alike.length + short.filter((each) => !alike.includes(each)).length,
      [
        ...asides(
          made.length - windows.length,
          'the weights of the micro-batches are not all known, or not those of one loss',
        ),
        ...windows.flatMap((each) => {
          if (alike.includes(each) || short.includes(each)) return [];
          return each.tasks
            ? ['the losses of the step are those of several tasks']
            : ['the step has one micro-batch'];
        }),
      ],
      [...undivided.map(tooLarge), ...short.map((window) => tooSmall(window, most, window === windows[0]))],
    );
  },
};

const isNear = (value: number, expected: number): boolean => Math.abs(value / expected - 1) <= NEAR;
const NEAR = 0.01;

/** Of one process, all of whose backward passes are one line of the script: else they are losses that are added up. */
function windowOf(ledger: Ledger, index: number): readonly Window[] {
  const step = ledger.steps.find((each) => each.index === index);
  const done = step?.ranks.length === 1 ? step.ranks[0]?.done : undefined;
  const rows = ledger.rows.filter((row) => row.step === index);
  const forwards = groupedBy(rows, ({ forward }) => forward);
  if (
    done === undefined ||
    done.backwards !== forwards.size ||
    done.backwardPlaces?.length !== 1 ||
    done.dropped !== undefined
  )
    return [];
  // Gradients that the script divides itself, behind the backward passes, are not what the weights say.
  const divided =
    eventsOf(ledger, 'reworked', index).length > 0 && eventsOf(ledger, 'clip', index).length === 0;
  if (divided || done.closure === true) return [];
  const batches: Batch[] = [];
  for (const [forward, own] of forwards) {
    const weights = own.flatMap(targetsOf).map(({ trained: { weight } }) => weight ?? Number.NaN);
    if (weights.length === 0 || !weights.every((weight) => weight >= 0)) return [];
    batches.push({ forward, tokens: weights.length, sum: weights.reduce((sum, weight) => sum + weight, 0) });
  }
  return [{ index, batches, place: done.backwardPlaces?.[0], tasks: areTasks([...forwards.values()]) }];
}

/** Each of another loader, or each of the same rows. */
function areTasks(forwards: readonly (readonly LedgerRow[])[]): boolean {
  if (forwards.length < 2) return false;
  const passes = forwards.map(([row]) => row?.batch?.pass);
  const rows = forwards.map((own) => own.map(({ ids }) => ids.join(' ')).join('\n'));
  return (!passes.includes(undefined) && new Set(passes).size === passes.length) || new Set(rows).size === 1;
}

const sumOf = ({ batches }: Window): number => batches.reduce((all, { sum }) => all + sum, 0);

function tooLarge(window: Window): Found {
  const count = window.batches.length;
  const sum = sumOf(window);
  return fault({
    harm: count,
    kind: 'undivided',
    sentence: `The ${count} micro-batches of step ${window.index} are a mean each (weights that add up to 1), and none is divided by ${count}: together ${show(sum)}, a step ${count} times as large as that of one batch.`,
    note: `The loss of the backward pass${at(window.place)} is a mean of its own micro-batch. Divide it by the ${count} micro-batches of the step, or better divide the sums by the tokens of the whole step. If these are losses of several tasks whose sum is meant, declare how each is put together (--semantics).`,
    given: { step: window.index, place: window.place ?? null, micro_batches: window.batches },
  });
}

/** `first`: no step was traced before it, so that no epoch has ended. */
function tooSmall(window: Window, most: number, first: boolean): Found {
  const count = window.batches.length;
  return fault({
    harm: most / count,
    kind: 'short',
    sentence: `Step ${window.index} has ${plural(count, 'micro-batch', 'micro-batches')}, each divided by ${most} as in the steps that have ${most}: the weights add up to ${show(sumOf(window))} instead of 1.`,
    note: first
      ? `The first traced step has fewer micro-batches than later ones. Count them from 1: \`(i + 1) % ${most} == 0\`, not \`i % ${most} == 0\`, steps after every ${most}. The backward pass is${at(window.place)}.`
      : `A step has fewer micro-batches where the data end, as at the end of an epoch. The loss of the backward pass${at(window.place)} is divided by ${most}: divide it by the ${count} that this step has, or by the tokens of the whole step.`,
    given: { step: window.index, place: window.place ?? null, micro_batches: window.batches },
  });
}

export const sharingProperties: readonly LedgerProperty[] = [sharing];
