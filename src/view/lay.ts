// Tokens laid on the text that they were made of, exactly: tokenizers report no offsets here, so each token's own
// bytes are walked along the text's. What cannot be walked is said to be so, never guessed.
import { byteOfToken } from '../tokenizers/byte-fallback.ts';
import { byteLevelBytes } from '../tokenizers/text.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ids } from '../vocabulary.ts';

/** Of each token, the piece in which it begins and the one in which it ends: another one where it straddles. */
export interface Laid {
  readonly first: readonly number[];
  readonly last: readonly number[];
}

/** `ids` are those of the pieces' joined text; undefined where the two cannot be brought together. */
export function layOnPieces(tokenizer: Tokenizer, pieces: readonly string[], ids: Ids): Laid | undefined {
  return (
    walk(tokenizer, pieces, ids) ?? walkNormalised(tokenizer, pieces, ids) ?? apart(tokenizer, pieces, ids)
  );
}

// --- helpers ---

/** The ways in which a token may stand for bytes of the text; all but special tokens may have several. */
interface Spelling {
  readonly control: boolean;
  readonly ways: readonly Uint8Array[];
}

const utf8 = new TextEncoder();
const spellings = new WeakMap<Tokenizer, Map<number, Spelling>>();
/** SentencePiece's sign for a space, U+2581, as UTF-8. */
const SPACE_SIGN = [0xe2, 0x96, 0x81] as const;
const SPACE = 0x20;
const WHITE = new Set([SPACE, 0x09, 0x0a, 0x0d]);

function spellingOf(tokenizer: Tokenizer, id: number): Spelling {
  let known = spellings.get(tokenizer);
  if (known === undefined) {
    known = new Map();
    spellings.set(tokenizer, known);
  }
  const found = known.get(id);
  if (found !== undefined) return found;
  const spelled = tokenizer.token(id) ?? '';
  const control = tokenizer.specialIds.has(id);
  const byte = control ? undefined : byteOfToken(spelled);
  const mapped = control ? undefined : byteLevelBytes(spelled);
  const made = {
    control,
    ways: [
      utf8.encode(spelled),
      ...(mapped === undefined ? [] : [Uint8Array.from(mapped)]),
      ...(byte === undefined ? [] : [Uint8Array.of(byte)]),
    ],
  };
  known.set(id, made);
  return made;
}

function walk(tokenizer: Tokenizer, pieces: readonly string[], ids: Ids): Laid | undefined {
  const text: Uint8Array = Buffer.from(pieces.join(''));
  const ends: number[] = [];
  let length = 0;
  for (const piece of pieces) {
    length += Buffer.byteLength(piece);
    ends.push(length);
  }
  // Half a surrogate pair at a seam: the pieces are not the bytes of the whole.
  if (length !== text.length) return undefined;
  const first: number[] = [];
  const last: number[] = [];
  let at = 0;
  let piece = 0;
  let controlBefore = false;
  for (const id of ids) {
    const spelling = spellingOf(tokenizer, id);
    const end = matchEnd(text, at, spelling, controlBefore);
    if (end === undefined) return undefined;
    while (piece < ends.length - 1 && (ends[piece] ?? 0) <= at) piece++;
    first.push(piece);
    let through = piece;
    while (through < ends.length - 1 && (ends[through] ?? 0) < end) through++;
    last.push(through);
    at = end;
    controlBefore = spelling.control;
  }
  while (controlBefore && at < text.length && WHITE.has(text[at] ?? 0)) at++;
  return at === text.length ? { first, last } : undefined;
}

function matchEnd(
  text: Uint8Array,
  at: number,
  { control, ways }: Spelling,
  controlBefore: boolean,
): number | undefined {
  for (const way of ways) {
    const end = matchBytes(text, at, way, 0);
    if (end !== undefined && way.length > 0) return end;
  }
  // A tokenizer may put a space before the first word, which the text does not have.
  for (const way of ways) {
    const lead = leadingSpace(way);
    const end = lead === 0 ? undefined : matchBytes(text, at, way, lead);
    if (end !== undefined) return end;
  }
  // A special token may take the white space beside it.
  if ((control || controlBefore) && WHITE.has(text[at] ?? 0)) {
    let skipped = at;
    while (WHITE.has(text[skipped] ?? 0)) skipped++;
    for (const way of ways) {
      const end = matchBytes(text, skipped, way, 0);
      if (end !== undefined && way.length > 0) return end;
    }
  }
  return undefined;
}

function leadingSpace(way: Uint8Array): number {
  if (way[0] === SPACE) return 1;
  return SPACE_SIGN.every((byte, index) => way[index] === byte) ? SPACE_SIGN.length : 0;
}

/** Where the text behind `way` goes on; the sign for a space stands for a space, or for itself. */
function matchBytes(text: Uint8Array, at: number, way: Uint8Array, from: number): number | undefined {
  let end = at;
  for (let index = from; index < way.length; index++) {
    if (text[end] === way[index]) {
      end++;
    } else if (
      text[end] === SPACE &&
      way[index] === SPACE_SIGN[0] &&
      way[index + 1] === SPACE_SIGN[1] &&
      way[index + 2] === SPACE_SIGN[2]
    ) {
      index += SPACE_SIGN.length - 1;
      end++;
    } else return undefined;
  }
  return end;
}

/** A tokenizer that composes characters (NFC) has other bytes than the text. */
function walkNormalised(tokenizer: Tokenizer, pieces: readonly string[], ids: Ids): Laid | undefined {
  const composed = pieces.map((piece) => piece.normalize('NFC'));
  if (composed.join('') !== pieces.join('').normalize('NFC')) return undefined;
  return walk(tokenizer, composed, ids);
}

/** What is lost in tokenising cannot be walked; but pieces that tokenise to the same apart are exact as well. */
function apart(tokenizer: Tokenizer, pieces: readonly string[], ids: Ids): Laid | undefined {
  const own = pieces.flatMap((piece, at) => tokenizer.encode(piece).map((id) => ({ id, at })));
  if (own.length !== ids.length || own.some(({ id }, at) => id !== ids[at])) return undefined;
  const first = own.map(({ at }) => at);
  return { first, last: first };
}
