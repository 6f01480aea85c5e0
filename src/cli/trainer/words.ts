// A command as one string and as words, the way a POSIX shell reads quotes. No variables, globs or pipes.
import { quoted } from '../../report/failure/reproduce.ts';
import type { Problem } from '../context.ts';

/** `python "my adapter.py"` to ["python", "my adapter.py"]; a problem for an open quote or nothing at all. */
export function splitCommand(text: string): readonly string[] | Problem {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const word = WORD.exec(rest)?.[0];
    if (word === undefined)
      return { problem: `the command ${JSON.stringify(text)} has a quote that is not closed` };
    words.push(
      word.replaceAll(
        PIECE,
        (_, single?: string, double?: string, escaped?: string, bare?: string) =>
          single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? bare ?? '',
      ),
    );
    rest = rest.slice(word.length).trimStart();
  }
  return words.length === 0 ? { problem: 'the command is empty' } : words;
}

/** The reverse: words for a shell. */
export function joinCommand(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

const PIECES = `'([^']*)'|"((?:[^"\\\\]|\\\\.)*)"|\\\\(.)|([^\\s'"\\\\]+)`;
const PIECE = new RegExp(PIECES, 'gsu');
const WORD = new RegExp(`^(?:${PIECES})+(?=\\s|$)`, 'su');
