// Plain text in which everything is trained but one id: a mask made of ids, which hides a token of the text.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
} from '../../../src/index.ts';
import { idName, judgementOf } from '../words.ts';

export const leftOutById: LedgerProperty = {
  id: 'trace/no-id-is-left-out',
  title: 'In plain text no token is left out of the loss wherever it stands',
  stage: 'trace',
  level: 'should',
  why: 'A mask made of ids (ignore_index=0, labels of the pad that is the end of a text, too) hides real tokens: the model never learns to write them, or to end.',
  catches: ['EOS-01'],
  needs: ({ rows }) => (rows.some(isText) ? undefined : 'no row of plain text was trained'),
  judge: (ledger) => {
    const rows = ledger.rows.filter(isText);
    const known = rows.filter(({ unread }) => unread === undefined);
    const places = known.flatMap((row) => placesOf(row));
    const left = places.filter(({ isTrained }) => !isTrained);
    const trained = new Set(places.flatMap(({ id, isTrained }) => (isTrained ? [id] : [])));
    const [id, ...others] = new Set(left.map((place) => place.id));
    const judgement = judgementOf(known.length, rows.length - known.length, []);
    const isOne = id !== undefined && others.length === 0 && !trained.has(id);
    if (!isOne || left.length < FEWEST || trained.size < FEWEST || isNoText(ledger, id)) return judgement;
    return { ...judgement, notices: [noticeOf(ledger, id, left.length)] };
  },
};

/** By chance so many places do not share an id, among as many others that are trained. */
const FEWEST = 3;

/** Nothing says what of it should be trained, and something is. */
const isText = ({ spans: { origin }, reached, trained }: LedgerRow): boolean =>
  (origin.kind === 'text' || origin.kind === 'unknown') &&
  reached &&
  trained.some((each) => each !== undefined);

interface Place {
  readonly id: number;
  readonly isTrained: boolean;
}

/** Tokens that have one before them. Without an attention mask those behind the last that is trained may be padding. */
function placesOf({ ids, real, attention, positions, trained }: LedgerRow): readonly Place[] {
  const end = attention === undefined ? trained.findLastIndex((each) => each !== undefined) : ids.length;
  return ids.flatMap((id, t) => {
    const isFirst = real[t - 1] !== true || positions?.[t] === 0;
    return real[t] !== true || isFirst || t > end ? [] : [{ id, isTrained: trained[t] !== undefined }];
  });
}

/** What opens a text follows nothing that could predict it, and a placeholder stands for no text. */
function isNoText({ tokenizer }: Ledger, id: number): boolean {
  if (tokenizer === undefined || id === tokenizer.eosTokenId) return false;
  return id === tokenizer.bosTokenId || tokenizer.specialIds.has(id);
}

function noticeOf(ledger: Ledger, id: number, count: number): LedgerNotice {
  const ends = id === ledger.tokenizer?.eosTokenId;
  return {
    sentence: `${idName(ledger, id)} is left out of the loss at all of its ${many(count, 'place')} in plain text, and everything else is trained. A mask made of ids does that (ignore_index, labels of the pad's id). ${ends ? 'It ends a text, so the model does not learn to end one: pad with another token, or mask by the attention mask.' : 'If it is a token like any other, mask by the attention mask.'}`,
    answers: [],
    // Without a tokenizer it may be a placeholder, or what opens a text.
    ...(ledger.tokenizer === undefined ? {} : { asked: true }),
  };
}
