// A run that resumes another one: its optimiser and its schedule go on together; beside the trace of the earlier run, rows, rates
// and the optimiser's own count of steps go on.
import {
  type Ledger,
  type LedgerEvent,
  type LedgerNotice,
  type LedgerProperty,
  realIds,
  show,
} from '../../../src/index.ts';
import { type Aside, aside, isAside, judgementFrom } from '../words.ts';
import { at, eventsOf, numberIn } from './made.ts';

const resumed: LedgerProperty = {
  id: 'update/a-resumed-run-goes-on',
  title: 'A resumed run goes on with the rows, the rates and the optimiser state that the earlier one left',
  stage: 'update',
  level: 'should',
  why: 'A resumption that loads the weights alone begins its warm-up, its moments and its data again: the loss only wobbles.',
  catches: ['OPT-07'],
  needs: (ledger) =>
    ledger.earlier === undefined && beginningOf(ledger) === undefined
      ? 'no trace of the run that this one resumes is named; --after DIR names one'
      : undefined,
  judge: (ledger) => {
    const { earlier } = ledger;
    const beginning = beginningOf(ledger);
    const said = [
      ...(beginning === undefined ? [] : [togetherOf(ledger, beginning)]),
      ...(earlier === undefined ? [] : [stepsOf, ratesOf, rowsOf].map((rule) => rule(ledger, earlier))),
    ];
    const notices = said.flatMap((each) => (each === 'good' || isAside(each) ? [] : [each]));
    return {
      ...judgementFrom(said.map((each) => (isAside(each) ? each : 'good'))),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

type Said = LedgerNotice | 'good' | Aside;
const ask = (sentence: string): LedgerNotice => ({ sentence, answers: [], asked: true });

// --- the optimiser and its schedule ---

/** What an optimiser and its schedulers have behind them when the first step of the run is made. */
interface Beginning {
  readonly state: LedgerEvent;
  /** Steps that the optimiser has made. */
  readonly count: number;
  /** Its schedulers, as they stand then. */
  readonly schedules: readonly LedgerEvent[];
}

/** Of a run that shows by itself that it resumes another one; undefined: it shows nothing of the kind. */
function beginningOf(ledger: Ledger): Beginning | undefined {
  const [state] = eventsOf(ledger, 'state');
  const count = state === undefined ? undefined : numberIn(state, 'count');
  if (state === undefined || count === undefined || state.step !== 0) return undefined;
  const schedules = windowsOf(ledger, state).filter(({ step }) => step === 0);
  return schedules.length > 0 && (count >= SOME_STEPS || schedules.some(isAhead))
    ? { state, count, schedules }
    : undefined;
}
/** Some tools make one step of zeros, so that an optimiser has a state to load into. */
const SOME_STEPS = 2;

const windowsOf = (ledger: Ledger, { rank, values }: LedgerEvent): readonly LedgerEvent[] =>
  eventsOf(ledger, 'schedule').filter(
    (each) =>
      each.rank === rank && each.values.optimizer === values.optimizer && each.values.explicit !== true,
  );

/**
 * Its first calls put it there, or it was loaded. A single call before the first step is an old custom, and calls after backward
 * passes are those of a schedule that goes by micro-batches.
 */
function isAhead(window: LedgerEvent): boolean {
  const [last, calls] = [numberIn(window, 'last') ?? 0, numberIn(window, 'calls') ?? 0];
  const ofThisRun = Math.max(calls === 1 ? 1 : 0, numberIn(window, 'behind_backward') ?? 0);
  return window.values.by_processes !== true && last - ofThisRun > 0;
}

function togetherOf(ledger: Ledger, { state, count, schedules }: Beginning): Said {
  const ahead = schedules.find(isAhead);
  const [first] = schedules;
  if (ahead !== undefined && count === 0) {
    // Plain descent has no state to lose.
    const remembers = eventsOf(ledger, 'state').some((each) => (numberIn(each, 'of') ?? 0) > 0);
    if (!remembers) return aside('the optimiser keeps no state');
    return ask(
      `${nameOf(ahead)} is at step ${show(numberIn(ahead, 'last') ?? 0)} when step 0${at(state.place)} is made, and its optimiser has no state: the schedule was resumed, momentum and second moments were not. Load the optimiser's state_dict(), too. Right where it was left out on purpose.`,
    );
  }
  if (ahead !== undefined || first === undefined) return 'good';
  const rates = ratesIn(ledger);
  const moves = rates.some((rate) => !isRate(rate, rates[0] ?? rate));
  const stepped = windowsOf(ledger, state).filter(({ step, values }) => step > 0 && Number(values.calls) > 0);
  // By epochs, it may have begun none yet; a rate that stays shows nothing.
  if (!moves || stepped.length < ledger.steps.length - 1 || stepped.length === 0)
    return aside('the learning rate stays, or its schedule goes by epochs');
  return ask(
    `The optimiser has made ${show(count)} steps when step 0${at(state.place)} is made, and ${nameOf(first)} begins at 0: the optimiser was resumed, its schedule was not. Load the scheduler's state_dict(), too. Right where a new schedule is meant.`,
  );
}

const nameOf = ({ values }: LedgerEvent): string => String(values.scheduler);

// --- the optimiser's own counter ---

const countsIn = (ledger: Ledger): readonly number[] =>
  eventsOf(ledger, 'state').flatMap((event) => numberIn(event, 'count') ?? []);

function stepsOf(ledger: Ledger, earlier: Ledger): Said {
  const [first] = countsIn(ledger);
  const last = countsIn(earlier).at(-1);
  if (first === undefined || last === undefined || last === 0)
    return aside('the optimiser of one of the runs counts no steps');
  if (first > 0) return 'good';
  return ask(
    `The optimiser has made no step when this run begins, and had made ${show(last + 1)} when the earlier one ended: its state was not saved, or is not loaded.`,
  );
}

// --- rates ---

/** Of each step, the largest: groups of their own have a factor each. */
const ratesIn = ({ steps }: Ledger): readonly number[] =>
  steps.flatMap(({ ranks }) => {
    const rates = ranks[0]?.done?.learningRates ?? [];
    return rates.length === 0 ? [] : [Math.max(...rates)];
  });

function ratesOf(ledger: Ledger, earlier: Ledger): Said {
  const [now, then] = [ratesIn(ledger), ratesIn(earlier)];
  const [first] = now;
  const [begun] = then;
  const last = then.at(-1);
  if (first === undefined || begun === undefined || last === undefined || now.length < 2 || then.length < 2)
    return aside('one of the runs has fewer than 2 learning rates');
  // A schedule that has not moved, or comes back by itself, tells nothing.
  if (isRate(begun, last)) return aside('the learning rate of the earlier run ends where it began');
  const both = Math.min(now.length, then.length);
  const again = now.slice(0, both).every((rate, at) => isRate(rate, then[at] ?? Number.NaN));
  if (!again) return 'good';
  return ask(
    `The learning rates of this run (${now.slice(0, FEW).map(show).join(', ')}) are those that the earlier one began with; it ended at ${show(last)}. The schedule begins again: save and load the scheduler, or give it last_epoch.`,
  );
}
const FEW = 3;

/** Rates have no noise; what a logger rounds has 3 digits at least. */
const isRate = (rate: number, other: number): boolean =>
  rate === other || Math.abs(rate - other) <= 1e-3 * Math.max(rate, other);

// --- rows ---

/** Of each step, its rows in any order. */
const batchesIn = (ledger: Ledger): readonly string[] =>
  ledger.steps.flatMap(({ index }) => {
    const rows = ledger.rows.filter((row) => row.step === index && row.reached);
    return rows.length === 0
      ? []
      : [
          rows
            .map((row) => realIds(row).join(' '))
            .sort()
            .join('|'),
        ];
  });

function rowsOf(ledger: Ledger, earlier: Ledger): Said {
  // What is sampled is another one each time.
  if (ledger.generations.length > 0) return aside('the script samples its rows');
  const [now, then] = [batchesIn(ledger), batchesIn(earlier)];
  const both = Math.min(now.length, then.length);
  // Batches that come again within the earlier run were a new epoch already, or are one that is overfitted.
  if (both < 2) return aside('one of the runs has fewer than 2 steps with rows');
  if (new Set(then).size < then.length) return aside('the earlier run trained a batch twice');
  if (!now.slice(0, both).every((batch, at) => batch === then[at])) return 'good';
  return ask(
    `The ${both} first steps of this run train the same rows, in the same order, as the ${both} first of the earlier one: the data begin again. Right where the earlier run ended with an epoch whose rows are not shuffled; else skip the batches that it trained, or save the state of the loader.`,
  );
}

export const resumedProperties: readonly LedgerProperty[] = [resumed];
