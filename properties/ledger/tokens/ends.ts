// Answers that end without a stop token: it is not in the row at all, so that nobody could train it, and the model never
// learns to end. A row that is cut ends so by right, and is told by its length.
import { type Ledger, type LedgerNotice, type LedgerRow, many } from '../../../src/index.ts';
import { isPushedDown } from '../input/policy.ts';
import { type Found, givenOf, idName, placeOf, rowStrip, tokenIn } from '../words.ts';
import { isOffTarget, isTaught, seenAt } from './trained.ts';

interface End {
  readonly row: LedgerRow;
  /** The column of the answer's last token. */
  readonly last: number;
  readonly answer: number;
  readonly real: number;
}

export interface Ends {
  readonly judged: number;
  readonly found: readonly Found[];
  readonly notices: readonly LedgerNotice[];
}

const NONE: Ends = { judged: 0, found: [], notices: [] };

export function judgeEnds(ledger: Ledger): Ends {
  const { template, tokenizer } = ledger;
  const stop = template?.closing ?? tokenizer?.eosTokenId;
  if (stop === undefined) return NONE;
  const rows = ledger.rows.filter((row) => speaksOf(ledger, row));
  const ends = rows.map((row) => endOf(ledger, row));
  // Where one answer has its stop token the script does write it, and what has none was cut.
  if (ends.includes('ended')) return NONE;
  const open = ends.filter((each) => each !== undefined && each !== 'ended');
  const longest = Math.max(...open.map(({ real }) => real));
  const most = Math.max(...open.map(({ answer }) => answer));
  const uncut = open.filter(({ real, answer }) => real < longest && answer < most);
  const several = new Set(uncut.map(({ row }) => row.ids.join(' '))).size >= LEAST;
  if (!several) return NONE;
  // A text of no template may have an end that only its author knows; what is pushed down may have been sampled where nobody saw it.
  const isOpen =
    template?.closing === undefined || uncut.some(({ row }) => isPlain(row) || isPushed(ledger, row));
  if (isOpen) return { ...NONE, notices: [notice(ledger, uncut, stop)] };
  return { judged: uncut.length, found: uncut.map((end) => unended(ledger, end, stop)), notices: [] };
}

/** One answer may have been cut there. */
const LEAST = 2;

/** Rows of data; of rows that only the template's marks tell, those of a script that samples nothing. */
function speaksOf(ledger: Ledger, row: LedgerRow): boolean {
  if (!row.reached || !isTaught(row) || isOffTarget(row)) return false;
  if (row.spans.origin.kind === 'dataset') return true;
  return ledger.generations.length === 0;
}

/** Rows that no data set is known of, in a script that makes some of them less likely. */
const isPushed = (ledger: Ledger, { spans }: LedgerRow): boolean =>
  spans.origin.kind !== 'dataset' && ledger.rows.some(isPushedDown);

/** undefined: its last answer is not trained, or something stands behind it. */
function endOf({ template, tokenizer }: Ledger, row: LedgerRow): End | 'ended' | undefined {
  const completion = row.spans.completions.at(-1);
  const end = row.real.lastIndexOf(true) + 1;
  if (completion === undefined) return undefined;
  if (completion.stop !== undefined) return 'ended';
  const { from, to } = completion;
  // Labels by themselves may go one further than the ids that the model was given.
  const behind = row.trained[end]?.target;
  const isStop = (id: number): boolean => template?.stops.has(id) === true || id === tokenizer?.eosTokenId;
  if (behind !== undefined && isStop(behind)) return 'ended';
  if (row.ids.slice(from, end + 1).some(isStop)) return 'ended';
  if (to !== end || to - from < 1 || seenAt(row, to - 1) !== 'yes') return undefined;
  return { row, last: to - 1, answer: to - from, real: row.real.filter(Boolean).length };
}

const isPlain = ({ spans: { origin } }: LedgerRow): boolean =>
  origin.kind === 'dataset' && !CHATS.has(origin.form);

/** Forms whose rows a template writes; a pair may be of texts. */
const CHATS: ReadonlySet<string> = new Set(['messages', 'conversations']);

function unended(ledger: Ledger, { row, last, answer }: End, stop: number): Found {
  return {
    harm: answer,
    tell: () => ({
      kind: 'no stop',
      sentence: `${tokenIn(ledger, row, last)} is the last of ${placeOf(ledger, row)}, which is trained and ends without ${idName(ledger, stop)}: no answer of the script has its stop token, and rows as short as this were not cut.`,
      strips: [rowStrip(ledger, row, [last])],
      note: 'A model that never sees the end of an answer does not end its own. Append the stop token before tokenising, or look for whatever takes it away: a strip(), skip_special_tokens, a limit of one token less.',
      given: givenOf(row),
    }),
  };
}

function notice(ledger: Ledger, uncut: readonly End[], stop: number): LedgerNotice {
  const [first] = uncut;
  return {
    sentence: `${many(uncut.length, 'answer')} ${uncut.length === 1 ? 'ends' : 'end'} with the row and without ${idName(ledger, stop)}${first === undefined ? '' : ` (the first: ${placeOf(ledger, first.row)})`}, and no other has it: a model that is trained on them is not taught to end.`,
    answers: [],
  };
}
