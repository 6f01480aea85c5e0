// What an optimiser remembers from one step to the next: momentum and second moments.
import type { Ledger, LedgerEvent, LedgerNotice, LedgerProperty } from '../../../src/index.ts';
import { asides, judgementOf } from '../words.ts';
import { at, eventsOf, numberIn } from './made.ts';

const states: LedgerProperty = {
  id: 'update/optimiser-keeps-its-state',
  title: 'A step begins with the optimiser state that the step before left',
  stage: 'update',
  level: 'should',
  why: 'An optimiser that is made, emptied or loaded again between steps has no momentum, and Adam divides by the gradient of one step: every step is as large as the first.',
  catches: ['OPT-03'],
  needs: (ledger) =>
    followed(ledger).length > 0
      ? undefined
      : 'no step was seen after another one that left momentum or other state of the optimiser',
  judge: (ledger) => {
    const events = followed(ledger);
    const off = events.filter((event) => isWithout(event) || isOther(event));
    const [first] = off;
    const always = off.length === events.length;
    return {
      ...judgementOf(
        always ? events.length : events.length - off.length,
        asides(always ? 0 : off.length, 'a phase of the training may begin anew'),
        [],
      ),
      ...(first === undefined ? {} : { notices: [noticeOf(first, off, always)] }),
    };
  },
};

/** Steps after another one that left something. */
const followed = (ledger: Ledger): readonly LedgerEvent[] =>
  eventsOf(ledger, 'state').filter((event) => countIn(event, 'of') > 0);

const countIn = (event: LedgerEvent, name: string): number => numberIn(event, name) ?? 0;

const isWithout = (event: LedgerEvent): boolean => countIn(event, 'lost') === countIn(event, 'of');

/** Of all that were looked at: some may begin anew, as new adapters do. */
const isOther = (event: LedgerEvent): boolean =>
  countIn(event, 'lost') + countIn(event, 'changed') === countIn(event, 'of');

function noticeOf(event: LedgerEvent, off: readonly LedgerEvent[], always: boolean): LedgerNotice {
  const when = off.length === 1 ? `Step ${event.step}` : `Each of ${off.length} steps`;
  const what = isWithout(event)
    ? event.values.anew === true
      ? 'is made by an optimiser that has no state yet, over tensors that another one stepped before: it is made again between steps'
      : 'finds the state of its optimiser empty, which the step before had filled'
    : 'finds another state in its optimiser than the step before left';
  return {
    sentence: `${when}${at(event.place)} ${what}. Momentum and second moments are lost. Right where a phase of the training begins anew on purpose.`,
    answers: [],
    // Once in several steps a phase may begin.
    ...(always ? { asked: true } : { remark: true }),
  };
}

export const stateProperties: readonly LedgerProperty[] = [states];
