// A command as one string and as words, the way a POSIX shell reads quotes. No variables, globs or pipes. On Windows a backslash is
// what paths are made of, and escapes only what would end the word or the quote. `_words.split` of the Python door is the same.
import { quoted } from '../../report/failure/reproduce.ts';
import type { Problem } from '../context.ts';

/** `python "my adapter.py"` to ["python", "my adapter.py"]; a problem for an open quote or nothing at all. */
export function splitCommand(
  text: string,
  platform: NodeJS.Platform = process.platform,
): readonly string[] | Problem {
  const escaped = platform === 'win32' ? ESCAPED_ON_WINDOWS : ESCAPED;
  if (text.includes('\0')) return { problem: `the command ${JSON.stringify(text)} has a NUL character` };
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; ) {
    const piece = SPACE.test(text.charAt(at)) ? undefined : pieceAt(text, at, escaped);
    if (piece === 'open')
      return { problem: `the command ${JSON.stringify(text)} has a quote that is not closed` };
    if (piece === undefined && word !== undefined) words.push(word);
    word = piece === undefined ? undefined : (word ?? '') + piece.text;
    at = piece?.end ?? at + 1;
  }
  if (word !== undefined) words.push(word);
  return words.length === 0 ? { problem: 'the command is empty' } : words;
}

/** The reverse: words for a shell. */
export function joinCommand(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

interface Piece {
  readonly text: string;
  /** Behind it. */
  readonly end: number;
}

const SPACE = /\s/;
/** What a backslash takes its meaning from; before anything else it stands for itself. */
interface Escaped {
  readonly plain: RegExp;
  readonly betweenDoubleQuotes: RegExp;
}
const ESCAPED: Escaped = { plain: /./s, betweenDoubleQuotes: /["\\$`]/ };
const ESCAPED_ON_WINDOWS: Escaped = { plain: /["'\s]/, betweenDoubleQuotes: /"/ };

/** One character, or what stands between two quotes. */
function pieceAt(text: string, at: number, escaped: Escaped): Piece | 'open' {
  const first = text.charAt(at);
  if (first === "'") {
    const end = text.indexOf("'", at + 1);
    return end < 0 ? 'open' : { text: text.slice(at + 1, end), end: end + 1 };
  }
  if (first === '\\') {
    const next = text.charAt(at + 1);
    if (escaped.plain.test(next)) return { text: next, end: at + 2 };
    if (next === '' && escaped === ESCAPED) return 'open';
  }
  if (first !== '"') return { text: first, end: at + 1 };
  let inside = '';
  for (let next = at + 1; next < text.length; next++) {
    const character = text.charAt(next);
    if (character === '"') return { text: inside, end: next + 1 };
    if (character === '\\' && next + 1 < text.length) {
      const after = text.charAt(++next);
      inside += escaped.betweenDoubleQuotes.test(after) ? after : character + after;
    } else inside += character;
  }
  return 'open';
}
