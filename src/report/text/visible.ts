// Text in the room that there is: columns of a terminal, lines, characters.
import stringWidth from 'string-width';

export { harmless, visible } from '../../visible.ts';

/** Columns of a terminal that the text takes; East Asian and emoji characters take two. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}

/** Of a row of millions of tokens most are that, with our signs for a space and a line's end: to look at graphemes takes a minute. */
const NARROW = /^[ -~␠⏎]*$/;

/** Cut to at most `width` columns, with `…` where something was cut. */
export function shorten(text: string, width: number): string {
  if (text.length <= width * MOST_UNITS && widthOf(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    // One character may carry a hundred thousand marks, and takes one column with all of them.
    cut += segment.length > MOST_UNITS ? [...segment.slice(0, MOST_UNITS)].slice(0, -1).join('') : segment;
  }
  return `${cut}…`;
}

/** Cut to at most `most` characters, `…` included, and never in the middle of one. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Padded on the right to `width` columns. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/**
 * Words laid out in lines of at most `width` columns; a line keeps its indentation. Chinese and Japanese have no
 * spaces and break anywhere; a longer word of narrow letters, a path or an address, is left whole.
 */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const body = paragraph.trimStart();
    const indent = paragraph.slice(0, paragraph.length - body.length);
    return wrapWords(body, Math.max(1, width - indent.length)).map((line) => indent + line);
  });
}

function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  const put = (piece: string, space: string): void => {
    const more = widthOf(piece);
    if (used > 0 && used + space.length + more > width) {
      lines.push(line);
      line = '';
      used = 0;
    }
    const before = used === 0 ? '' : space;
    line += before + piece;
    used += before.length + more;
  };
  for (const word of text.split(' ')) {
    const [first = '', ...rest] = piecesOf(shorten(word, MOST_WORD), width);
    put(first, ' ');
    for (const piece of rest) put(piece, '');
  }
  return [...lines, line];
}

/** Where a word may break: behind each wide character, and nowhere else. */
function piecesOf(word: string, width: number): string[] {
  const wide = widthOf(word);
  if (wide <= width || wide === word.length) return [word];
  const pieces: string[] = [];
  let piece = '';
  for (const { segment } of GRAPHEMES.segment(word)) {
    piece += segment;
    if (widthOf(segment) < 2) continue;
    pieces.push(piece);
    piece = '';
  }
  return piece === '' ? pieces : [...pieces, piece];
}

/** Of one character: families and flags, the longest that mean something, have less than half as many. */
const MOST_UNITS = 32;
/** A word of more columns is no address and no path: one token can be a hundred thousand characters. */
const MOST_WORD = 320;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A block behind an empty line, if it has any lines. */
export const apart = (lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', ...lines];
