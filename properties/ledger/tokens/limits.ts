// Lengths that a trainer's arguments declare, beside those of the rows that are trained.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  show,
} from '../../../src/index.ts';
import { asides, judgementOf, placeOf } from '../words.ts';

export const declaredLength: LedgerProperty = {
  id: 'trace/rows-fit-the-declared-length',
  title: 'No row that is trained is longer than the declared limit',
  stage: 'trace',
  level: 'should',
  why: 'Some ways of preparing data pass the limit by: memory runs out at the longest row, and losses that divide by the limit weigh long answers too much.',
  catches: [],
  needs: (ledger) =>
    limitIn(ledger) === undefined ? 'no argument of a known trainer declares a length' : undefined,
  judge: (ledger) => {
    const limit = limitIn(ledger);
    if (limit === undefined) return judgementOf(0, [], []);
    const rows = ledger.rows.filter(({ reached }) => reached);
    const lengths = rows.flatMap((row) => {
      const length = limit.lengthOf(row);
      return length === undefined ? [] : [{ row, length }];
    });
    const over = lengths.filter(({ length }) => length > limit.most);
    const [longest] = over.toSorted((a, b) => b.length - a.length);
    const judgement = judgementOf(
      lengths.length - over.length,
      [
        ...asides(rows.length - lengths.length, 'how long the row is cannot be told'),
        ...asides(over.length, 'the row is longer than the limit, which may be meant'),
      ],
      [],
    );
    return longest === undefined
      ? judgement
      : { ...judgement, notices: [notice(ledger, limit, over.length, longest)] };
  },
};

interface Limit {
  readonly name: 'max_length' | 'max_completion_length';
  readonly most: number;
  /** Nobody need have written it. */
  readonly usual: boolean;
  /** Undefined: not known. */
  readonly lengthOf: (row: LedgerRow) => number | undefined;
}

/** As TRL has them by itself: sft_config.py, dpo_config.py, grpo_config.py, rloo_config.py of 1.13. */
const USUAL = { max_length: 1024, max_completion_length: 512 };
const NAMES: Readonly<Record<string, Limit['name']>> = {
  SFTTrainer: 'max_length',
  DPOTrainer: 'max_length',
  GRPOTrainer: 'max_completion_length',
  RLOOTrainer: 'max_completion_length',
};

function limitIn({ settings: { trainer, values } }: Ledger): Limit | undefined {
  const name = NAMES[trainer ?? ''];
  const most = name === undefined ? undefined : values[name];
  if (name === undefined || typeof most !== 'number') return undefined;
  // What generate() is given beside it says another length, and is meant.
  const other = JSON.stringify(values.generation_kwargs ?? null).includes('max_');
  return {
    name,
    most,
    usual: most === USUAL[name] || other,
    lengthOf: name === 'max_length' ? (row) => longestIn(row, values.padding_free === true) : completionIn,
  };
}

/** Tokens of the longest example of a row. Laid end to end, they are told apart by their positions. */
function longestIn({ real, positions }: LedgerRow, laid: boolean): number | undefined {
  if (laid && positions === undefined) return undefined;
  let [longest, length] = [0, 0];
  for (const [t, is] of real.entries()) {
    if (positions !== undefined && positions[t] === 0 && positions[t - 1] !== 0) length = 0;
    if (is) length++;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** What follows the prompt of a sample, answers of tools included. */
function completionIn({ spans }: LedgerRow): number | undefined {
  const [first] = spans.completions;
  const last = spans.completions.at(-1);
  if (spans.origin.kind !== 'generation' || first === undefined || last === undefined) return undefined;
  return last.to - first.from;
}

function notice(
  ledger: Ledger,
  { name, most, usual }: Limit,
  count: number,
  { row, length }: { readonly row: LedgerRow; readonly length: number },
): LedgerNotice {
  const what = name === 'max_length' ? 'trained row' : 'trained completion';
  const none = name === 'max_length' ? ' (None: no limit)' : '';
  return {
    sentence: `${many(count, what)} ${count === 1 ? 'is' : 'are'} longer than ${name}=${show(most)}: ${placeOf(ledger, row)} has ${show(length)} tokens. Data that are prepared beforehand, laid end to end, or sampled by other settings pass this limit by. Cut them, or declare the length that is meant${none}.`,
    answers: [],
    ...(usual ? { remark: true } : { asked: true }),
  };
}
