// What a chat template writes between the token that ends a turn and the next header: white space, a line end most
// often. It is nobody's word. Where the turn is trained, trainers that mark turns reach through it, trainers that mark
// stop tokens do not, and both are right: every stage that judges what is trained leaves it open, by this one rule.
import type { Ids } from '../vocabulary.ts';
import type { Tokenizer } from './tokenizer.ts';

/** The first column from `at` on that is neither white space nor one of `more`; `at` is behind the token that ends the turn. */
export function behindTurn(tokenizer: Tokenizer, ids: Ids, at: number, more: Ids = []): number {
  let end = at;
  for (let id = ids[end]; id !== undefined; id = ids[end]) {
    if (!more.includes(id) && !isWhite(tokenizer, id)) break;
    end++;
  }
  return end;
}

const known = new WeakMap<Tokenizer, Map<number, boolean>>();

function isWhite(tokenizer: Tokenizer, id: number): boolean {
  const seen = known.get(tokenizer) ?? new Map<number, boolean>();
  known.set(tokenizer, seen);
  const found = seen.get(id) ?? (!tokenizer.specialIds.has(id) && tokenizer.decode([id]).trim() === '');
  seen.set(id, found);
  return found;
}
