// Rows that a script takes, and that no step is made of: batches that it passes over, and steps that are left out.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
} from '../../../src/index.ts';
import { madeSteps, plural } from '../steps/made.ts';
import { judgementOf, placeOf } from '../words.ts';

export const consumedRows: LedgerProperty = {
  id: 'loader/consumed-rows-are-trained',
  title: 'Rows that are taken from a loader are in a step',
  stage: 'trace',
  level: 'should',
  why: 'A loop that skips batches, and a scaler that leaves steps out, use up rows that are never trained; the count of tokens in the log has them all the same.',
  catches: [],
  needs: (ledger) =>
    ledger.rows.some(({ batch }) => batch !== undefined) || leftOutSteps(ledger).length > 0
      ? undefined
      : 'no row came from a loader, and no step was left out',
  judge: (ledger) => {
    const passes = passesOf(ledger);
    const notices = [
      ...leftOutSteps(ledger).slice(0, MOST_TOLD),
      ...passes.flatMap(passedOver).slice(0, MOST_TOLD),
    ];
    const judgement = judgementOf(Math.max(1, passes.length), [], []);
    return notices.length === 0 ? judgement : { ...judgement, notices };
  },
};

/** One pass over a loader, on one rank. */
interface Pass {
  readonly ledger: Ledger;
  /** Of the batches that are trained. */
  readonly rows: readonly LedgerRow[];
  /** Numbers of all batches that a model was called with. */
  readonly used: ReadonlySet<number>;
}

/** Of each kind: a long run skips again and again. */
const MOST_TOLD = 2;

function passesOf(ledger: Ledger): readonly Pass[] {
  const found = new Map<string, { rows: LedgerRow[]; used: Set<number> }>();
  const of = (rank: number, pass: number) => {
    const key = `${rank} ${pass}`;
    const known = found.get(key) ?? { rows: [], used: new Set<number>() };
    found.set(key, known);
    return known;
  };
  for (const row of ledger.rows) {
    if (row.batch === undefined) continue;
    const pass = of(row.rank, row.batch.pass);
    pass.used.add(row.batch.number);
    if (row.reached) pass.rows.push(row);
  }
  for (const { rank, batch } of [...ledger.scored, ...(ledger.discarded ?? [])])
    if (batch !== undefined) of(rank, batch.pass).used.add(batch.number);
  return [...found.values()].flatMap((pass) => (pass.rows.length === 0 ? [] : [{ ...pass, ledger }]));
}

/** Batches between two that are trained, with which no model is called at all, or without a backward pass. */
function passedOver({ ledger, rows, used }: Pass): readonly LedgerNotice[] {
  const numbers = new Set(rows.map(({ batch }) => batch?.number ?? 0));
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const gone = Array.from({ length: last - first }, (_, at) => first + at).filter(
    (number) => !used.has(number),
  );
  const unreached = ledger.rows.filter(
    ({ rank, batch, reached }) =>
      rank === rows[0]?.rank &&
      !reached &&
      batch?.pass === rows[0]?.batch?.pass &&
      !numbers.has(batch?.number ?? -1),
  );
  const [fed] = unreached;
  const size = rows[0]?.batch?.size;
  return [
    ...(gone.length === 0
      ? []
      : [
          remark(
            `${plural(gone.length, 'batch was', 'batches were')} taken from the loader, and no model was called with ${gone.length === 1 ? 'it' : 'them'}: ${numbered(gone)}${size === undefined ? '' : ` (of ${many(size, 'row')})`}. Right for iterations that are skipped on purpose, and for a resumed run that catches up.`,
          ),
        ]),
    ...(fed === undefined
      ? []
      : [
          remark(
            `No backward pass reached ${many(unreached.length, 'row')} that the model was called with, from ${placeOf(ledger, fed)}: ${unreached.length === 1 ? 'it is' : 'they are'} in no step. Right for a batch that is skipped for its loss.`,
          ),
        ]),
  ];
}

function leftOutSteps(ledger: Ledger): readonly LedgerNotice[] {
  const made = madeSteps(ledger);
  const skipped = made.filter(({ made: ranks }) => ranks.some((each) => each.skipped === true));
  // Where it is all of them, another rule tells it.
  if (skipped.length === made.length) return [];
  return skipped.map(({ step: { index } }) => {
    const rows = ledger.rows.filter(({ step, reached }) => step === index && reached);
    const [first] = rows;
    return remark(
      `A gradient scaler left step ${index} out, as a gradient was infinite or NaN: its ${many(rows.length, 'row')}${first === undefined ? '' : ` (from ${placeOf(ledger, first)})`} ${rows.length === 1 ? 'is' : 'are'} trained in no step. Right now and then, and for the first steps.`,
    );
  });
}

const remark = (sentence: string): LedgerNotice => ({ sentence, answers: [], remark: true });

/** "number 1, 3 and 4", as counted from 0. */
function numbered(numbers: readonly number[]): string {
  const shown = numbers.slice(0, MOST_NUMBERED);
  const more = numbers.length > shown.length ? ` and ${numbers.length - shown.length} more` : '';
  return `number ${shown.join(', ')}${more}, counted from 0`;
}
const MOST_NUMBERED = 6;
