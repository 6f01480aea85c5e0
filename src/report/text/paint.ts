// Colours for the terminal. Blue and orange carry the contrast, because red and green are one colour to many
// readers; and every coloured thing also has a word or a glyph, so that nothing is lost without colour.
import picocolors from 'picocolors';

export type Brush = (text: string) => string;
export interface Paint {
  readonly bold: Brush;
  readonly dim: Brush;
  readonly blue: Brush;
  readonly orange: Brush;
}

// picocolors has the 16 basic colours only, where "blue" is unreadable on black and orange is absent.
const BLUE = 39;
const ORANGE = 208;

/** No escape codes at all. */
export const PLAIN: Paint = { bold: String, dim: String, blue: String, orange: String };

const base = picocolors.createColors(true);
export const COLOURED: Paint = {
  bold: base.bold,
  dim: base.dim,
  blue: (text) => `\u001b[38;5;${BLUE}m${text}\u001b[39m`,
  orange: (text) => `\u001b[38;5;${ORANGE}m${text}\u001b[39m`,
};

/** NO_COLOR wins, then FORCE_COLOR, then whether someone is looking. */
export function choosePaint(isTty: boolean, env: Readonly<Record<string, string | undefined>>): Paint {
  if (env.NO_COLOR) return PLAIN;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') {
    return env.FORCE_COLOR === '0' ? PLAIN : COLOURED;
  }
  return isTty && env.TERM !== 'dumb' ? COLOURED : PLAIN;
}
