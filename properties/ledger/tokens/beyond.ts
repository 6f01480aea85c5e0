// Ids that the tokenizer has no token for: labels of another tokenizer, or tokens that were never added.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  targetsOf,
} from '../../../src/index.ts';
import { judgementOf, placeOf } from '../words.ts';

export const knownToTheTokenizer: LedgerProperty = {
  id: 'trace/trained-ids-are-tokens',
  title: 'Every id that is trained is a token of the tokenizer',
  stage: 'trace',
  level: 'should',
  why: 'An embedding with spare rows takes ids of another tokenizer without an error: the model learns to write what nothing can decode.',
  catches: [],
  needs: ({ tokenizer, rows }) =>
    tokenizer === undefined
      ? 'no tokenizer was seen'
      : rows.some(({ reached }) => reached)
        ? undefined
        : 'no row was trained',
  judge: (ledger) => {
    const rows = ledger.rows.filter(({ reached }) => reached);
    const found = rows.flatMap((row) => {
      const ids = strangersIn(ledger, row);
      return ids.length === 0 ? [] : [{ row, ids }];
    });
    const judgement = judgementOf(rows.length, [], []);
    const [first] = found;
    if (first === undefined) return judgement;
    const ids = [...new Set(found.flatMap((each) => each.ids))];
    return { ...judgement, notices: [noticeOf(ledger, first.row, ids, found.length)] };
  },
};

/** Ids that are trained in the row, and that the tokenizer has no token for. */
function strangersIn({ tokenizer }: Ledger, row: LedgerRow): readonly number[] {
  return targetsOf(row).flatMap(({ trained: { target, weight } }) =>
    target !== undefined && weight !== undefined && weight !== 0 && tokenizer?.token(target) === undefined
      ? [target]
      : [],
  );
}

function noticeOf(ledger: Ledger, row: LedgerRow, ids: readonly number[], rows: number): LedgerNotice {
  const shown = ids.toSorted((a, b) => a - b).slice(0, FEW);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '';
  const size = ledger.tokenizer?.vocabSize.toLocaleString('en') ?? '';
  return {
    sentence: `${many(rows, 'row')} ${rows === 1 ? 'trains' : 'train'} ids that the tokenizer (${ledger.tokenizer?.name}, ${size} tokens) does not have, such as ${placeOf(ledger, row)}: ${shown.join(', ')}${more}. They come from another tokenizer, or were never added to this one. Right for ids that stand for no text, such as codes of audio.`,
    answers: [],
  };
}
const FEW = 4;
