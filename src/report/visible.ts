// Token text as something that can be seen and keeps its column: no character that moves the cursor, has no
// width, or joins its neighbour is printed as it is.
import stringWidth from 'string-width';

/** Whitespace as glyphs, control and format characters as escapes; an empty token is `''`. */
export function visible(text: string): string {
  if (text === '') return "''";
  let shown = '';
  for (const character of text) {
    if (GLYPHS[character] !== undefined) shown += GLYPHS[character];
    // A combining mark or joiner with nothing before it would attach itself to the cell on its left.
    else if (/^[\p{M}\u200d]$/u.test(character)) shown += shown === '' ? escapeOf(character) : character;
    else shown += /^[\p{C}\p{Z}]$/u.test(character) ? escapeOf(character) : character;
  }
  return shown;
}

/** Columns of a terminal that the text takes; East Asian and emoji characters take two. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Cut to at most `width` columns, with `…` where something was cut. */
export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let cut = '';
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (widthOf(cut + segment) > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}

/** Padded on the right to `width` columns. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Words laid out in lines of at most `width` columns; a longer word is left whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line === '') line = word;
      else if (widthOf(line) + 1 + widthOf(word) <= width) line += ` ${word}`;
      else {
        lines.push(line);
        line = word;
      }
    }
    lines.push(line);
  }
  return lines;
}

const GLYPHS: Readonly<Record<string, string>> = { ' ': '␠', '\n': '⏎', '\t': '⇥', '\r': '␍' };
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
