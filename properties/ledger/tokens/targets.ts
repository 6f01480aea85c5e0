// What each position was trained towards: the token that follows, and nothing else.
import {
  bandsAt,
  type Ledger,
  type LedgerJudgement,
  type LedgerProperty,
  type LedgerRow,
  many,
  type Trained,
} from '../../../src/index.ts';
import { asides, type Found, givenOf, idName, judgementOf, placeOf, rowStrip, tokenIn } from '../words.ts';
import { meantTargets, type OffTarget, shiftOf } from './shifts.ts';
import { taughtNotices } from './taught.ts';
import { explained, mostlyOpen, needsTrained, UNEXPLAINED } from './trained.ts';

function judgeTargets(ledger: Ledger): LedgerJudgement {
  const setAside: string[] = [];
  let judged = 0;
  const off: OffTarget[] = [];
  for (const row of ledger.rows) {
    const columns = targetsOf(ledger, row);
    if (columns.length === 0) {
      if (row.trained.some((each) => each !== undefined && each.weight !== 0))
        setAside.push(whyNone(ledger, row));
      continue;
    }
    const wrong = columns.filter((t) => row.trained[t]?.target !== row.ids[t]);
    if (wrong.length > 0 && mostlyOpen(ledger, row)) {
      setAside.push(UNEXPLAINED);
      continue;
    }
    judged++;
    if (wrong.length > 0) off.push({ row, wrong, columns });
  }
  const meant = meantTargets(ledger, off);
  const found = off
    .filter((each) => !meant.has(each))
    .map(({ row, wrong, columns }): Found => {
      return { harm: wrong.length, tell: () => tellTarget(ledger, row, wrong, columns) };
    });
  const may = asides(meant.size, 'the targets may be those of a masked model, a teacher or clean texts');
  return {
    ...judgementOf(judged - meant.size, [...setAside, ...may], found),
    notices: taughtNotices(ledger),
  };
}

/** Of a row with a gradient, in which no target can be compared. */
function whyNone(ledger: Ledger, row: LedgerRow): string {
  if (!isCausal(ledger, row)) return 'the model does not predict the next token';
  const end = row.real.lastIndexOf(true) + 1;
  const measured = row.trained.some((each, t) => t !== end && each?.target !== undefined);
  return measured ? UNEXPLAINED : 'no target of the row was measured';
}

/**
 * Columns whose target was measured and can be compared. What is trained behind the example's end is not there to
 * compare, be padding there or nothing: a script may hand the model all tokens but the last, and the labels by themselves.
 */
function targetsOf(ledger: Ledger, row: LedgerRow): number[] {
  if (!isCausal(ledger, row)) return [];
  const end = row.real.lastIndexOf(true) + 1;
  return row.ids.flatMap((id, t) => {
    const each = row.trained[t];
    if (t === end && each?.target !== id) return [];
    return each?.target !== undefined && each.weight !== 0 && isSure(row, each) ? [t] : [];
  });
}

/** Where the model is sure of a token, its gradient is rounding, and any target would explain it. */
const isSure = (row: LedgerRow, each: Trained): boolean =>
  explained(row, each) && bandsAt(each, row.dtype).residual < SURE;

const SURE = 0.5;

/** An encoder's ids are not what its decoder predicts, and a masked model predicts what it is not shown. */
function isCausal(ledger: Ledger, { model, rank }: LedgerRow): boolean {
  const own = ledger.models.find((each) => each.model === model && each.rank === rank);
  return own === undefined || !OTHER_MODELS.test(own.class);
}

const OTHER_MODELS =
  /MaskedLM|LMHeadModelWithSpan|EncoderDecoder|Seq2Seq|^(T5|MT5|UMT5|LongT5|Switch|Bart|MBart|Pegasus|Marian|LED|BigBird|Blenderbot|M2M|NllbMoe|PLBart|ProphetNet|FSMT|Whisper)/;

function tellTarget(ledger: Ledger, row: LedgerRow, wrong: readonly number[], all: readonly number[]) {
  const first = wrong[0] ?? 0;
  const target = row.trained[first]?.target ?? -1;
  const shift = shiftOf(ledger, row, wrong);
  const share = `${wrong.length} of the row's ${many(all.length, 'target')} ${wrong.length === 1 ? 'is' : 'are'} wrong`;
  const so = shift === undefined ? '' : `: ${shift.words}`;
  return {
    kind: shift?.kind ?? 'target',
    sentence: `${tokenIn(ledger, row, first)} of ${placeOf(ledger, row)} follows, but the model was trained towards ${idName(ledger, target)} there${so}; ${share}.`,
    strips: [rowStrip(ledger, row, wrong)],
    ...(shift === undefined ? {} : { note: shift.todo }),
    given: givenOf(row),
  };
}

function judgeResiduals(ledger: Ledger): LedgerJudgement {
  const found: Found[] = [];
  const setAside: string[] = [];
  let judged = 0;
  for (const row of ledger.rows) {
    const measured = row.trained.flatMap((each, t) => (each?.residual === undefined ? [] : [t]));
    if (measured.length === 0) {
      if (row.trained.some((each) => each !== undefined))
        setAside.push('it was not measured how much of the gradient a target explains');
      continue;
    }
    judged++;
    const high = measured.filter((t) => {
      const each = row.trained[t];
      return each !== undefined && !explained(row, each);
    });
    if (high.length === 0) continue;
    found.push({
      harm: high.length,
      tell: () => ({
        kind: 'whole vocabulary',
        sentence: `${tokenIn(ledger, row, high[0] ?? 0)} of ${placeOf(ledger, row)} is trained by a term over the whole vocabulary: no single target explains ${percent(row.trained[high[0] ?? 0]?.residual)} of its gradient (${many(high.length, 'such token')} of ${measured.length}).`,
        strips: [rowStrip(ledger, row, high, { residual: row.trained.map((each) => each?.residual) })],
        note: 'An entropy bonus, distillation, label smoothing or a z-loss does this and is no mistake. The rules about targets leave these tokens out.',
        given: givenOf(row),
      }),
    });
  }
  return judgementOf(judged, setAside, found);
}

const percent = (share: number | undefined): string => `${Math.round((share ?? 0) * 100)} %`;

export const targetProperties: readonly LedgerProperty[] = [
  {
    id: 'trace/target-is-the-next-token',
    title: 'Each position is trained towards the token that follows it in its row',
    stage: 'trace',
    level: 'must',
    why: 'Labels that are not shifted, shifted twice or of another row train the model on pairs that the data never held, and the loss falls all the same.',
    catches: ['LP-01', 'LP-03', 'MSK-04', 'PAD-08'],
    needs: needsTrained,
    judge: judgeTargets,
  },
  {
    id: 'trace/one-target-explains-the-gradient',
    title:
      'The gradient of each trained position is that of one target, without a term over the whole vocabulary',
    stage: 'trace',
    level: 'may',
    why: 'An entropy bonus, distillation or label smoothing that was switched on by mistake trains every token of the vocabulary at once; it cannot be shown token by token.',
    catches: [],
    needs: needsTrained,
    judge: judgeResiduals,
  },
];
