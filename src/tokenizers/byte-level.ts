// The byte-level step of a pre-tokenizer, without doing the same word twice: the library spells every word byte by
// byte each time, which is a sixth of the tokenising of a data set, and words repeat.

interface Step {
  readonly config?: { readonly type?: string };
  readonly tokenizers?: readonly unknown[];
  readonly pre_tokenize_text?: (text: string, options?: unknown) => string[];
}

/** Remembers what the ByteLevel steps of a library's pre-tokenizer make of short texts, wherever they stand in it. */
export function rememberByteLevel(preTokenizer: unknown): void {
  // Pre-tokenizers are callable objects, so they may be functions as well.
  if (preTokenizer === null || (typeof preTokenizer !== 'object' && typeof preTokenizer !== 'function'))
    return;
  const step = preTokenizer as Step;
  for (const each of step.tokenizers ?? []) rememberByteLevel(each);
  const spell = step.pre_tokenize_text?.bind(step);
  if (step.config?.type !== 'ByteLevel' || spell === undefined) return;
  const known = new Map<string, string[]>();
  Object.assign(step, {
    pre_tokenize_text(text: string, options?: unknown): string[] {
      const found = known.get(text);
      if (found !== undefined) return found;
      const made = spell(text, options);
      if (text.length > LONGEST_WORD) return made;
      if (known.size >= MOST_WORDS) known.clear();
      known.set(text, made);
      return made;
    },
  });
}

/** Longer texts are no words, and do not come again. */
const LONGEST_WORD = 32;
/** About what a data set of one language has; a few megabytes. */
const MOST_WORDS = 50_000;
