// A tokenizer that somebody else has written, with a deadline around all that its regular expressions and tokens make us
// compute. One that took too long when it was read, or on a few words, is refused in a sentence; one that does so later
// ends the command, since no number can be said of its text, and does it again for no further text.
import { Overrun, patience, type Timed, timed } from './deadline.ts';
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
      problem: `The tokenizer.json of ${folder} cannot be made ready in ${Math.round(milliseconds / 1_000)} s; write it again with save_pretrained, and look at its added tokens and its regular expressions.`,
    };
  const { done: tokenizer } = opened;
  let late = false;
  const within = <T>(characters: number, what: string, work: () => T): T => {
    const result: Timed<T> = late ? { overrun: true } : timed(patience(characters), work);
    if ('done' in result) return result.done;
    late = true;
    throw new Overrun(lateSentence(folder, what));
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

/** 33 MB, the largest vocabulary of today, take a second or two: a twentieth of a character each is ten times as much. */
const READING = 1 / 50;

/** What makes a regular expression that backtracks do so: one character again and again, and then another. */
const PROBES: readonly string[] = [
  'The quick brown fox jumps over 13 lazy dogs.\n\n  Voilà: 日本語, مرحبا, 😀!\t\r\n',
  ...['a', 'aA', '1', ' ', '\n', '.', '_', 'é'].map((each) => `${each.repeat(48)}!\u0000x`),
];

function lateSentence(folder: string, what: string): string {
  return `The tokenizer of ${folder} does not come to an end on ${what}; look for a regular expression in its tokenizer.json that backtracks, or leave the tokenizer out and let the trainer's own ids stand.`;
}
