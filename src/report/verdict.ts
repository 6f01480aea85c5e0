// The words, glyphs and colours of verdicts, the same in every report. A verdict is always glyph and word.
import type { Verdict } from '../vocabulary.ts';
import type { Brush, Paint } from './paint.ts';

interface Look {
  readonly glyph: string;
  /** In a row of the table, and of exactly one property in the final line. */
  readonly word: string;
  /** Of several properties in the final line. */
  readonly plural: string;
  readonly brush: keyof Paint;
}

/** In the order of the final line. */
export const LOOKS: Readonly<Record<Verdict, Look>> = {
  pass: { glyph: '✓', word: 'holds', plural: 'hold', brush: 'blue' },
  fail: { glyph: '✗', word: 'fails', plural: 'fail', brush: 'orange' },
  error: { glyph: '!', word: 'error', plural: 'errors', brush: 'orange' },
  thin: { glyph: '%', word: 'thin', plural: 'thin', brush: 'orange' },
  changed: { glyph: '≠', word: 'changed', plural: 'changed', brush: 'orange' },
  stale: { glyph: '?', word: 'stale', plural: 'stale', brush: 'orange' },
  unseen: { glyph: '∅', word: 'unseen', plural: 'unseen', brush: 'orange' },
  known: { glyph: '~', word: 'known', plural: 'known', brush: 'bold' },
  unsupported: { glyph: '–', word: 'unsupported', plural: 'unsupported', brush: 'dim' },
  skipped: { glyph: '·', word: 'skipped', plural: 'skipped', brush: 'dim' },
  interrupted: { glyph: '■', word: 'interrupted', plural: 'interrupted', brush: 'bold' },
};

/** Columns of the longest `glyph word`. */
export const VERDICT_WIDTH: number = Math.max(...Object.values(LOOKS).map((look) => look.word.length)) + 2;

export function brushOf(verdict: Verdict, paint: Paint): Brush {
  return paint[LOOKS[verdict].brush];
}
