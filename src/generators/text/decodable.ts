// Text to be turned into ids and back: special tokens beside what takes several tokens per character, and pieces that are
// tokenised apart, so that their ids are not those that the tokenizer would have chosen for the whole.
import fc from 'fast-check';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import { emoji, multilingual, plainContent, specialText } from './text.ts';

/** Texts, each as pieces. */
export interface Decodable {
  readonly texts: readonly (readonly string[])[];
}

const MAX_TEXTS = 2;
const MAX_PIECES = 3;

/** Arbitrary texts in pieces that are tokenised apart, with special tokens of the tokenizer between them. */
export function decodable(tokenizer: Tokenizer | undefined): fc.Arbitrary<Decodable> {
  const piece = fc.oneof(
    { arbitrary: plainContent(), weight: 2 },
    { arbitrary: multilingual(), weight: 2 },
    { arbitrary: emoji(), weight: 1 },
    { arbitrary: specialText(tokenizer), weight: 3 },
  );
  const pieces = fc.array(piece, { minLength: 1, maxLength: MAX_PIECES, size: 'max' });
  return fc.record({ texts: fc.array(pieces, { minLength: 1, maxLength: MAX_TEXTS, size: 'max' }) });
}

/** What the texts exercise. */
export function decodableLabels({ texts }: Decodable, tokenizer: Tokenizer | undefined): string[] {
  const specials = [...(tokenizer?.specialIds ?? [])].flatMap((id) => tokenizer?.token(id) ?? []);
  const all = texts.map((pieces) => pieces.join(''));
  const special = all.map((text) => specials.some((token) => text.includes(token)));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the end of ASCII is what is asked for
  const foreign = all.map((text) => /[^\x00-\x7f]/.test(text));
  const labels: readonly (readonly [string, boolean])[] = [
    ['several pieces', texts.some((pieces) => pieces.length > 1)],
    ['special token', special.includes(true)],
    ['beyond ASCII', foreign.includes(true)],
    ['special token beside non-ASCII', special.some((has, at) => has && foreign[at])],
  ];
  return labels.filter(([, holds]) => holds).map(([label]) => label);
}
