// How much a tokenizer.json may ask of whoever makes it ready: backends build trees of all its texts and expressions of
// all its patterns, at hundreds of bytes per character, before anybody can count. All of these are far beyond any model.
import { isJsonObject, type JsonObject } from '../outside/decoded.ts';
import { lengthOfTexts } from '../outside/text.ts';

/** What of it is too much, as a sentence goes on; undefined where nothing is. */
export function tooMuchOf(tokenizer: JsonObject): string | undefined {
  const { model, added_tokens: added } = tokenizer;
  const { vocab, merges } = isJsonObject(model) ? model : {};
  if (Array.isArray(merges) && merges.length > MOST_MERGES)
    return `has ${merges.length.toLocaleString('en')} merges; ${MOST_MERGES.toLocaleString('en')} are read at most`;
  for (const [what, characters, most] of [
    ['vocabulary', Array.isArray(vocab) ? lengthOfTexts(vocab) : namesIn(vocab), MOST_VOCABULARY],
    ['added tokens', lengthOfTexts(added), MOST_ADDED],
    ...STEPS.map((name) => [name, ruleCharacters(tokenizer[name]), MOST_RULES] as const),
  ] as const)
    if (characters > most)
      return `has ${characters.toLocaleString('en')} characters of ${what}; ${most.toLocaleString('en')} are read at most`;
  const empty = STEPS.find((name) => hasEmptyPieces(tokenizer[name]));
  return empty === undefined ? undefined : `has a ${empty} that cuts a text into pieces of no length`;
}

// --- helpers ---

/** Gemma's 262,144 tokens have 1.8 million. */
const MOST_VOCABULARY = 2 ** 22;
/** Gemma's are 580,604. */
const MOST_MERGES = 1_000_000;
/** 32,768 codes of pictures are 750,000. */
const MOST_ADDED = 2 ** 21;
/** All of a step's components with their patterns, in JSON: a few thousand, and a table of characters beside them. */
const MOST_RULES = 100_000;
const MOST_TABLE = 4_000_000;
const STEPS = ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'] as const;

const namesIn = (vocab: unknown): number =>
  isJsonObject(vocab) ? Object.keys(vocab).reduce((sum, { length }) => sum + length, 0) : 0;

/** SentencePiece's table of what becomes of a character is data, and no rule: T5's has 316,720. */
function ruleCharacters(step: unknown): number {
  const text = JSON.stringify(step, (key, value) =>
    key === 'precompiled_charsmap' && typeof value === 'string' && value.length <= MOST_TABLE ? '' : value,
  );
  return text?.length ?? 0;
}

function hasEmptyPieces(step: unknown): boolean {
  if (typeof step !== 'object' || step === null) return false;
  const { type, length } = step as { readonly type?: unknown; readonly length?: unknown };
  if (type === 'FixedLength' && !(Number.isInteger(length) && (length as number) > 0)) return true;
  return Object.values(step).some(hasEmptyPieces);
}
