// Text of others that can be looked at and does nothing: what moves a cursor, has no width, joins its neighbour or
// turns the direction of reading is shown as an escape. What comes out goes in again unchanged.

/** A token: white space as glyphs, invisible characters as escapes, no line break; an empty one is `''`. */
export function visible(text: string): string {
  if (text === '') return "''";
  let shown = '';
  let marks = 0;
  for (const character of text) {
    const mark = /^\p{M}$/u.test(character);
    marks = mark ? marks + 1 : 0;
    // A combining mark with nothing before it would attach itself to the cell on its left.
    const loose = mark && (shown === '' || marks > MOST_MARKS);
    shown += loose || isHidden(character) ? escapeOf(character) : (GLYPHS[character] ?? character);
  }
  return shown;
}

/** A sentence: spaces and line breaks stay, what would act on a terminal becomes an escape. */
export function harmless(text: string): string {
  return text.replaceAll('\t', '    ').replaceAll(ACTING, escapeOf);
}

const GLYPHS: Readonly<Record<string, string>> = { ' ': '␠', '\n': '⏎', '\t': '⇥', '\r': '␍' };
/** Vietnamese and pointed Hebrew pile up so many; more are a tower across the lines above. */
const MOST_MARKS = 4;
/** Controls except the line break, direction marks, and halves of characters. */
const ACTING = /(?!\n)[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;

/** Joiners and variation selectors too: no two terminals agree how wide they make what they join. */
function isHidden(character: string): boolean {
  return (
    GLYPHS[character] === undefined && /^[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]$/u.test(character)
  );
}

/** Of its first character. */
export function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
