// How a token is shown to a person: one visible line, never an invisible difference. Not a decoder: a token that
// is half a character has no text, and shows its bytes.
import { visible } from '../visible.ts';
import { byteOfToken } from './byte-fallback.ts';
import type { Tokenizer } from './tokenizer.ts';

/** "␠the", "⏎", "<0xE2>", "<|eot_id|>"; without a tokenizer, or outside its vocabulary, the bare id. */
export function tokenText(tokenizer: Tokenizer | undefined, id: number): string {
  const spelled = tokenizer?.token(id);
  if (tokenizer === undefined || spelled === undefined) return String(id);
  if (tokenizer.specialIds.has(id)) return visible(spelled);
  const byte = byteOfToken(spelled);
  // Printable ASCII and white space read better as themselves than as bytes, even where they are byte tokens.
  if (byte !== undefined) return byte < 0x80 ? visible(String.fromCharCode(byte)) : spelled;
  const spaced = spelled.includes('\u2581') ? spelled.replaceAll('\u2581', ' ') : undefined;
  if (spaced !== undefined && isSentencePiece(tokenizer)) return visible(spaced);
  const text = tokenizer.decode([id]);
  return text.includes('\ufffd') ? bytesOfToken(spelled) : visible(text);
}

/** The bytes that a byte-level vocabulary means by a spelling ("Ġthe"); undefined for what is not spelled so. */
export function byteLevelBytes(spelled: string): readonly number[] | undefined {
  const bytes: number[] = [];
  for (const character of spelled) {
    const byte = BYTE_OF_CHARACTER.get(character);
    if (byte === undefined) return undefined;
    bytes.push(byte);
  }
  return bytes;
}

// --- helpers ---

/** A SentencePiece vocabulary has a token for each byte; there, ▁ stands for a space. */
function isSentencePiece(tokenizer: Tokenizer): boolean {
  return tokenizer.tokenId('<0x0A>') !== undefined;
}

/** Byte-level vocabularies spell each byte as one character; this is GPT-2's table, the other way round. */
const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = byteCharacters();

function bytesOfToken(spelled: string): string {
  const bytes = byteLevelBytes(spelled);
  if (bytes === undefined) return visible(spelled);
  return bytes.map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`).join('');
}

function byteCharacters(): Map<string, number> {
  const table = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const printable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
    table.set(String.fromCharCode(printable ? byte : next++), byte);
  }
  return table;
}
