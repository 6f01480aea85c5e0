// Learning rates over steps: how often a scheduler is stepped, and whether what it says is a rate at all.
import {
  type Ledger,
  type LedgerEvent,
  type LedgerNotice,
  type LedgerProperty,
  show,
} from '../../../src/index.ts';
import { aside, asides, type Found, judgementFrom, judgementOf, type Said } from '../words.ts';
import {
  at,
  eventsOf,
  fault,
  groupedBy,
  madeSteps,
  manyPushed,
  needsStep,
  numberIn,
  pushedIn,
} from './made.ts';

// --- calls ---

const calls: LedgerProperty = {
  id: 'update/schedule-goes-by-steps',
  title: 'A scheduler is stepped once after each step of its optimiser',
  stage: 'update',
  level: 'should',
  why: 'A scheduler that is stepped twice, before the optimiser, or not at all ends its warm-up and its decay at the wrong time.',
  catches: ['OPT-11'],
  needs: ({ events }) =>
    events.some(({ what }) => what === 'schedule')
      ? undefined
      : 'no scheduler of torch.optim.lr_scheduler was made',
  judge: (ledger) => {
    const windows = eventsOf(ledger, 'schedule').filter(({ values }) => values.explicit !== true);
    const found = windows.flatMap((window) => faultOf(window));
    const never = found.length > 0 ? [] : neverIn(windows);
    const hard = never.filter(({ values }) => BY_BATCH.has(String(values.scheduler)));
    const soft = never.filter(
      ({ values }) => !BY_BATCH.has(String(values.scheduler)) && !BY_EPOCH.has(String(values.scheduler)),
    );
    const fast = found.length > 0 ? [] : windows.filter(isByPass).slice(0, 1);
    const notices = [...fast.map(byPass), ...soft.slice(0, 1).map(still)];
    const judged = windows.filter(({ step }) => step > 0).length;
    return {
      ...judgementOf(
        Math.max(judged - soft.length - fast.length, found.length),
        [
          ...asides(soft.length, 'the scheduler may go by epochs'),
          ...asides(fast.length, 'the scheduler may go by micro-batches'),
        ],
        [...found, ...hard.map(notOnce)],
      ),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

/** As their documentation says. */
const BY_BATCH = new Set(['OneCycleLR', 'CyclicLR']);
const BY_EPOCH = new Set([
  'StepLR',
  'MultiStepLR',
  'ExponentialLR',
  'ReduceLROnPlateau',
  'CosineAnnealingWarmRestarts',
]);

const countOf = (window: LedgerEvent): number => numberIn(window, 'calls') ?? 0;
const passesOf = (window: LedgerEvent): number => numberIn(window, 'passes') ?? 0;
/** Once behind each of several micro-batches: the schedule may count those. */
const isByPass = (window: LedgerEvent): boolean =>
  countOf(window) > 1 && countOf(window) === passesOf(window) && window.names.length === 1;

function faultOf(window: LedgerEvent): readonly Found[] {
  const count = countOf(window);
  const scheduler = String(window.values.scheduler);
  if (window.step === 0)
    return (numberIn(window, 'behind_backward') ?? 0) > 0 && !isByPass(window)
      ? [
          fault({
            harm: 1,
            kind: 'before',
            sentence: `${scheduler} is stepped${at(window.place)} before the first step of its optimiser: the first learning rate of the schedule is left out.`,
            note: 'Call optimizer.step() first, then scheduler.step().',
            given: { step: 0, places: window.names, ...window.values },
          }),
        ]
      : [];
  if (count < 2 || window.values.by_processes === true || isByPass(window)) return [];
  // Behind a step, and once more at the end of an epoch, are two places; so is a loop and its trainer.
  if (window.names.length < 2 && passesOf(window) !== 1) return [];
  return [
    fault({
      harm: count,
      kind: 'twice',
      sentence: `${scheduler} is stepped ${count} times between step ${window.step - 1} and step ${window.step} of its optimiser (${window.names.join(', ')}): its schedule is over in ${count === 2 ? 'half of' : `1/${count} of`} the time.`,
      note: 'Step it once, after the step of the optimiser; a trainer or accelerate may do so already.',
      given: { step: window.step, places: window.names, ...window.values },
    }),
  ];
}

/** The first window of each scheduler that was never stepped, though its optimiser made several steps. */
function neverIn(windows: readonly LedgerEvent[]): readonly LedgerEvent[] {
  const own = groupedBy(
    windows.filter(({ step }) => step > 0),
    ({ rank, values }) => `${rank} ${String(values.scheduler)} ${String(values.optimizer)}`,
  );
  return [...own.values()].flatMap((seen) =>
    seen.every((window) => countOf(window) === 0) ? seen.slice(0, 1) : [],
  );
}

function notOnce(window: LedgerEvent): Found {
  return fault({
    harm: 1,
    kind: 'never',
    sentence: `${String(window.values.scheduler)} is not stepped between the traced steps of its optimiser, and it is one that goes by steps: the learning rate stays where it begins.`,
    note: 'Call scheduler.step() after each optimizer.step().',
    given: { step: window.step, ...window.values },
  });
}

const still = (window: LedgerEvent): LedgerNotice => ({
  sentence: `A ${String(window.values.scheduler)} was made, and not stepped between the traced steps of its optimiser. Right where it goes by epochs; a schedule that counts steps stays where it begins.`,
  answers: [],
  remark: true,
});

const byPass = (window: LedgerEvent): LedgerNotice => ({
  sentence: `${String(window.values.scheduler)} is stepped${at(window.place)} ${countOf(window)} times ${window.step === 0 ? 'before step 0' : `between step ${window.step - 1} and step ${window.step}`} of its optimiser, once after each micro-batch. This is right if its length is counted in micro-batches; otherwise its schedule is over ${countOf(window)} times too early.`,
  answers: [],
});

// --- rates ---

const rates: LedgerProperty = {
  id: 'update/learning-rate-is-not-zero',
  title: 'Steps after the first have a learning rate above 0',
  stage: 'update',
  level: 'should',
  why: 'A warm-up in steps that is stepped by epochs stays at 0; a decay that counts micro-batches is there long before the end.',
  catches: ['OPT-11'],
  needs: needsStep,
  judge: (ledger) => {
    const ranks = new Set(ledger.steps.flatMap(({ ranks: all }) => all.map(({ rank }) => rank)));
    const [rank] = ranks;
    const said = rank === undefined ? [] : ratesOf(ledger, rank);
    return judgementFrom(said);
  },
};

/** A decay comes near 0 before it is there. */
const MOST_OF_PEAK = 0.5;

/** Of each step behind the first. */
function ratesOf(ledger: Ledger, rank: number): readonly Said[] {
  const made = madeSteps(ledger);
  const steps = made.flatMap(({ step }) => {
    const done = step.ranks.find((each) => each.rank === rank)?.done;
    if (done === undefined || done.skipped === true || done.learningRates.length === 0) return [];
    const tokens = pushedIn(ledger.rows.filter((row) => row.step === step.index));
    return [{ index: step.index, rate: Math.max(...done.learningRates), still: !done.changed, tokens, done }];
  });
  const known = steps.flatMap(({ index, rate, still: unmoved, tokens, done }, i): readonly Said[] => {
    const before = steps[i - 1];
    if (before === undefined) return [];
    if (tokens === 0) return [aside('the step trains nothing')];
    // What moves at a rate of 0 has its rate elsewhere.
    if (rate !== 0 || !unmoved) return ['good'];
    const peak = Math.max(...steps.slice(0, i).map((each) => each.rate));
    const stays = before.rate === 0;
    if (!stays && before.rate < MOST_OF_PEAK * peak) return ['good'];
    const over = stays && peak > 0;
    const how = over
      ? `, as in step ${before.index}, after ${show(peak)} in an earlier step: the schedule is over`
      : stays
        ? `, as in each traced step before it: a warm-up that begins at 0 leaves it after one step`
        : `, right after ${show(before.rate)} in step ${before.index}`;
    return [
      fault({
        harm: tokens,
        kind: stays ? 'stays' : 'falls',
        sentence: `The learning rate of step ${index}${at(done.place)} is 0${how}. Gradients of ${manyPushed(ledger, tokens)} change nothing.`,
        note:
          stays && !over
            ? 'A schedule that counts steps is stepped by epochs, or not at all; or it was over before the traced steps, as in a resumed run.'
            : 'The schedule is over: its length is counted in other steps than it is stepped with.',
        given: { step: index, rates: steps.map((each) => each.rate) },
      }),
    ];
  });
  const left = asides(made.length - steps.length, 'the step was left out, or its learning rate is not known');
  return [...left.map(aside), ...known];
}

export const scheduleProperties: readonly LedgerProperty[] = [calls, rates];
