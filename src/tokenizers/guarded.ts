// A tokenizer that somebody else has written, with a deadline around all that its regular expressions and tokens make us
// compute. One that took too long when it was read, or on a few words, is refused in a sentence; one that does so later, or
// fails, ends the command, since no number can be said of its text, and is asked for no further text.

import { onOneLine } from '../outside/text.ts';
import { Budget, Overrun, patience, timed } from './deadline.ts';
import type { Tokenizer } from './tokenizer.ts';

export function guarded(
  folder: string,
  /** Of its tokenizer.json. */
  bytes: number,
  open: () => Tokenizer,
): { readonly tokenizer: Tokenizer } | { readonly problem: string } {
  const milliseconds = patience(bytes * READING);
  const opened = timed(milliseconds, open);
  if ('overrun' in opened)
    return {
      problem: `The tokenizer.json of ${folder} cannot be made ready in ${Math.round(milliseconds / 1_000)} s of CPU time; write it again with save_pretrained, and look at its added tokens and its regular expressions.`,
    };
  const { done: tokenizer } = opened;
  const budget = new Budget();
  let ended: Overrun | undefined;
  const within = <T>(characters: number, what: string, work: () => T): T => {
    if (ended !== undefined) throw ended;
    try {
      const result = budget.timed(characters, work);
      if ('done' in result) return result.done;
      ended = new Overrun(lateSentence(folder, what));
    } catch (error) {
      ended = new Overrun(failedSentence(folder, what, error));
    }
    throw ended;
  };
  for (const word of PROBES) {
    const probe = timed(patience(0), () => tokenizer.decode(tokenizer.encode(word)));
    if ('overrun' in probe) return { problem: lateSentence(folder, `a text of ${word.length} characters`) };
  }
  return {
    tokenizer: {
      ...tokenizer,
      encode: (text, options) =>
        within(text.length, `a text of ${text.length} characters`, () => tokenizer.encode(text, options)),
      decode: (ids) => within(ids.length, `${ids.length} tokens`, () => tokenizer.decode(ids)),
    },
  };
}

/** The 9 MB of Mistral Nemo take 1.2 s of a slow core: a byte counts as a twentieth of a character, which is nine times as much. */
const READING = 1 / 20;

/** What makes a regular expression that backtracks do so: one character again and again, and then another. */
const PROBES: readonly string[] = [
  'The quick brown fox jumps over 13 lazy dogs.\n\n  Voilà: 日本語, مرحبا, 😀!\t\r\n',
  ...['a', 'aA', '1', ' ', '\n', '.', '_', 'é'].map((each) => `${each.repeat(48)}!\u0000x`),
];

function failedSentence(folder: string, what: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `The tokenizer of ${folder} fails on ${what} (${onOneLine(reason, SHOWN_REASON)}); look at its tokenizer.json, or leave the tokenizer out and let the trainer's own ids stand.`;
}

const SHOWN_REASON = 200;

function lateSentence(folder: string, what: string): string {
  return `The tokenizer of ${folder} does not come to an end on ${what}; look for a regular expression in its tokenizer.json that backtracks, or leave the tokenizer out and let the trainer's own ids stand.`;
}
