// Pieces and the tokens laid on them, as a row.
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ids, Role } from '../vocabulary.ts';
import type { Laid } from './lay.ts';
import type { Piece } from './piece.ts';
import type { Answer, TokenRow, Turn } from './row.ts';

export interface TaggedPiece extends Piece {
  readonly trained: boolean;
  /** What the message of an answer says itself about being trained. */
  readonly told?: boolean;
}

/** `names` says how the turn of a message is headed; -1 is none's. */
export function rowOf(
  tokenizer: Tokenizer,
  ids: Ids,
  pieces: readonly TaggedPiece[],
  laid: Laid,
  names: (turn: number) => string,
): TokenRow {
  const trained: boolean[] = [];
  const roles: Role[] = [];
  const straddles: number[] = [];
  const turns: { name: string; turn: number; from: number; to: number }[] = [];
  const answers = new Map<number, { from: number; to: number; stop?: number; told?: boolean }>();
  const said = new Map<number, { from: number; to: number }>();
  for (let at = 0; at < ids.length; at++) {
    const over = piecesUnder(pieces, laid, at);
    const own = over.find((piece) => piece.trained) ?? over[0];
    if (own === undefined) {
      trained.push(false);
      roles.push('prompt');
      continue;
    }
    trained.push(own.trained);
    roles.push(own.role);
    if (own.trained && over.some((piece) => !piece.trained)) straddles.push(at);
    const open = turns.at(-1);
    if (open !== undefined && open.turn === own.turn) open.to = at + 1;
    else turns.push({ name: names(own.turn), turn: own.turn, from: at, to: at + 1 });
    for (const { answer, turn, part, text, told } of over) {
      if (answer) {
        const known = answers.get(turn) ?? { from: at, to: at };
        answers.set(turn, known);
        known.to = at + 1;
        if (told !== undefined) known.told = told;
        if (part === 'stop' && over.length === 1 && tokenizer.token(ids[at] ?? -1) === text) known.stop = at;
      } else if (part === 'content' && turn >= 0 && over.length === 1) {
        const known = said.get(turn) ?? { from: at, to: at };
        said.set(turn, known);
        known.to = at + 1;
      }
    }
  }
  return {
    ids,
    trained,
    roles,
    turns: turns.map(({ name, from, to }): Turn => ({ name, from, to })),
    answers: [...answers.values()].map((answer): Answer => ({ ...answer, cut: false })),
    said: [...said.values()],
    straddles,
    real: { from: 0, to: ids.length },
    lost: 0,
  };
}

// --- helpers ---

/** Those that have text under the token: one, but for a token that straddles. */
function piecesUnder(
  pieces: readonly TaggedPiece[],
  { first, last }: Laid,
  at: number,
): readonly TaggedPiece[] {
  const [from = 0, to = 0] = [first[at], last[at]];
  const only = pieces[from];
  if (from === to && only !== undefined && only.text !== '') return [only];
  return pieces.slice(from, to + 1).filter(({ text }) => text !== '');
}
