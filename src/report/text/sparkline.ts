// A series in one line of text: a column for each stretch of points; what is no number is a mark of
// its own, and never a column.

/** What can be printed: blocks where the terminal has them. */
export type Letters = 'unicode' | 'ascii';

export interface Sparkline {
  /** At most `width` columns of one cell each. */
  readonly text: string;
  /** Which of them has this point; undefined where no such point is. */
  columnOf(point: number): number | undefined;
}

/** Every point is in exactly one column; a column shows its mean, those of the highest and the lowest point these. */
export function sparkline(values: readonly number[], width: number, letters: Letters = 'unicode'): Sparkline {
  const { levels, odd } = GLYPHS[letters];
  const columns = Math.max(1, Math.min(width, values.length));
  const stretches = Array.from({ length: values.length === 0 ? 0 : columns }, (_, at) =>
    values.slice(...boundsOf(at, columns, values.length)),
  );
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const glyph = (stretch: readonly number[]): string => {
    if (stretch.some((value) => !Number.isFinite(value))) return odd;
    const mean = stretch.reduce((sum, each) => sum + each / stretch.length, 0);
    // The highest and the lowest of all must be seen; of noise, the mean tells more than its extremes.
    const value = [high, low]
      .filter((each) => stretch.includes(each))
      .reduce((far, each) => (Math.abs(each - mean) > Math.abs(far - mean) ? each : far), mean);
    // Halves, because the whole may be more than a number holds.
    const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : FLAT;
    return levels[Math.min(levels.length - 1, Math.floor(share * levels.length))] ?? odd;
  };
  return {
    text: stretches.map(glyph).join(''),
    columnOf: (point) =>
      point >= 0 && point < values.length ? Math.floor((point * columns) / values.length) : undefined,
  };
}

/** A terminal that says what it can print, and that these are not it, gets ASCII. */
export function lettersOf(env: Readonly<Record<string, string | undefined>>): Letters {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  const old = env.TERM === 'linux' || env.TERM === 'dumb';
  return old || (locale !== undefined && !/utf-?8/iu.test(locale)) ? 'ascii' : 'unicode';
}

// --- helpers ---

const GLYPHS: Readonly<Record<Letters, { readonly levels: readonly string[]; readonly odd: string }>> = {
  unicode: { levels: [...'▁▂▃▄▅▆▇█'], odd: '×' },
  ascii: { levels: [...'_.-=+*^#'], odd: 'x' },
};
/** A line that never moves stands low, and is not empty. */
const FLAT = 0.25;

/** The points of a column: every point is in exactly one. */
function boundsOf(at: number, columns: number, points: number): [number, number] {
  return [Math.ceil((at * points) / columns), Math.ceil(((at + 1) * points) / columns)];
}
