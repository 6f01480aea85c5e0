// The order in which a loader that shuffles gives its rows, from pass to pass.
import type { Ledger, LedgerEvent, LedgerNotice, LedgerProperty } from '../../../src/index.ts';
import { eventsOf, numberIn } from '../steps/made.ts';
import { asides, judgementOf } from '../words.ts';

export const otherOrders: LedgerProperty = {
  id: 'loader/passes-have-other-orders',
  title: 'A loader that shuffles gives its rows in another order in each pass',
  stage: 'trace',
  level: 'should',
  why: 'A distributed sampler makes its order from a seed and the number of the epoch: without set_epoch() each epoch has the order of the first, and each batch the same rows.',
  catches: [],
  needs: (ledger) =>
    eventsOf(ledger, 'order').length > 0
      ? undefined
      : 'no loader that shuffles was seen to begin a second pass: --keep-going sees more',
  judge: (ledger) => {
    const all = eventsOf(ledger, 'order');
    const trained = all.filter((event) => isTrained(ledger, event));
    const same = trained.filter(({ values }) => values.same === true);
    const judgement = judgementOf(
      trained.length,
      asides(all.length - trained.length, 'no row of the two passes was trained'),
      [],
    );
    const [first] = same;
    return first === undefined ? judgement : { ...judgement, notices: [noticeOf(first)] };
  },
};

/** A look at the first batch, or an evaluation, is no pass of a training. */
function isTrained({ rows }: Ledger, { rank, values: { passes } }: LedgerEvent): boolean {
  return (
    Array.isArray(passes) &&
    passes.every((pass) => rows.some((row) => row.rank === rank && row.reached && row.batch?.pass === pass))
  );
}

function noticeOf(event: LedgerEvent): LedgerNotice {
  const epoch = numberIn(event, 'epoch');
  const why =
    epoch === undefined
      ? 'The random numbers begin anew with each pass: seed the generator once, before the first'
      : `The sampler is at epoch ${epoch} in both: call its set_epoch(epoch) before each pass`;
  return {
    sentence: `A pass over the data that begins before step ${event.step} has the order of an earlier one: the first ${numberIn(event, 'indices') ?? 0} rows are the same, though ${String(event.values.sampler)} shuffles. ${why}. Right where a few rows are overfitted on purpose.`,
    answers: [],
    asked: true,
  };
}
