// The words, glyphs and colours of verdicts, the same in every report. A verdict is always glyph and word.
import type { Verdict } from '../vocabulary.ts';
import type { Brush, Paint } from './text/paint.ts';

interface Look {
  readonly glyph: string;
  /** In a row of the table, and of exactly one property in the final line. */
  readonly word: string;
  /** Of several properties in the final line. */
  readonly plural: string;
  readonly brush: keyof Paint;
  /** What it says, and whether it fails the run: the legend of every report. */
  readonly meaning: string;
}

/** In the order of the final line. */
export const LOOKS: Readonly<Record<Verdict, Look>> = {
  pass: {
    glyph: '✓',
    word: 'holds',
    plural: 'hold',
    brush: 'blue',
    meaning: 'Every case that was judged kept the rule.',
  },
  fail: {
    glyph: '✗',
    word: 'fails',
    plural: 'fail',
    brush: 'orange',
    meaning: 'A case broke the rule. The smallest one that was found is shown. Fails the run.',
  },
  error: {
    glyph: '!',
    word: 'error',
    plural: 'errors',
    brush: 'orange',
    meaning:
      'The trainer crashed, hung, raised or gave no proper answer, so the rule could not be judged. Fails the run.',
  },
  ask: {
    glyph: '¿',
    word: 'asks',
    plural: 'ask',
    brush: 'orange',
    meaning: 'Legal if intended, and not declared: one declared line answers it. Fails the run until then.',
  },
  thin: {
    glyph: '%',
    word: 'thin',
    plural: 'thin',
    brush: 'orange',
    meaning:
      'No case broke the rule, but too few had what the property promises to try, or more than half were set aside. Fails the run.',
  },
  changed: {
    glyph: '≠',
    word: 'changed',
    plural: 'changed',
    brush: 'orange',
    meaning: 'Listed as known, and fails in another way than was recorded. Fails the run.',
  },
  stale: {
    glyph: '?',
    word: 'stale',
    plural: 'stale',
    brush: 'orange',
    meaning: 'Listed as known, and holds now: take it off the list. Fails the run.',
  },
  unseen: {
    glyph: '∅',
    word: 'unseen',
    plural: 'unseen',
    brush: 'orange',
    meaning: 'Listed as known, and was not judged in this run. Fails the run.',
  },
  known: {
    glyph: '~',
    word: 'known',
    plural: 'known',
    brush: 'bold',
    meaning: 'Fails as the list of known failures says. Does not fail the run.',
  },
  unsupported: {
    glyph: '–',
    word: 'unsupported',
    plural: 'unsupported',
    brush: 'dim',
    meaning: 'The trainer does not offer what the property needs. Never counted as a pass.',
  },
  skipped: {
    glyph: '·',
    word: 'skipped',
    plural: 'skipped',
    brush: 'dim',
    meaning:
      'No case could be judged, or too few: the trainer refused the others, or left nothing to judge. Never counted as a pass.',
  },
  interrupted: {
    glyph: '■',
    word: 'interrupted',
    plural: 'interrupted',
    brush: 'bold',
    meaning: 'The run was stopped before the property was done.',
  },
};

/** Columns of the longest `glyph word`. */
export const VERDICT_WIDTH: number = Math.max(...Object.values(LOOKS).map((look) => look.word.length)) + 2;

/** `1 fails`, `29 hold`. */
export function countOf(verdict: Verdict, count: number): string {
  const { word, plural } = LOOKS[verdict];
  return `${count} ${count === 1 ? word : plural}`;
}

export function brushOf(verdict: Verdict, paint: Paint): Brush {
  return paint[LOOKS[verdict].brush];
}
