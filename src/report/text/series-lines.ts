// A logged number as text, below the sentence of a failure: its line, where it first breaks the rule, and the values there.
import type { SeriesWindow } from '../../check/property.ts';
import { digits } from './numbers.ts';
import type { Paint } from './paint.ts';
import { type Letters, sparkline } from './sparkline.ts';
import { harmless, pad, shorten, widthOf } from './visible.ts';

export interface SeriesPrint {
  readonly width: number;
  readonly paint: Paint;
  readonly letters?: Letters;
}

/** Two or three lines a series; nothing for none. */
export function seriesLines(series: readonly SeriesWindow[], print: SeriesPrint): string[] {
  const several = new Set(series.map(({ run }) => run)).size > 1;
  return series.flatMap((window, at) => [...(at === 0 ? [] : ['']), ...windowLines(window, several, print)]);
}

/** Four digits: what a person reads of a logged number. */
export function shortDigits(value: number): string {
  return digits(Number.isFinite(value) && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value);
}

// --- helpers ---

/** More columns are no easier to read. */
const MOST_COLUMNS = 60;
const LEAST_COLUMNS = 8;
const NAME_WIDTH = 32;
const GAP = '  ';

function windowLines(
  window: SeriesWindow,
  several: boolean,
  { width, paint, letters }: SeriesPrint,
): string[] {
  const { run, name, steps, values, violation } = window;
  // Of several runs, the names stand above: side by side they leave no room for the line.
  const label = several ? '' : shorten(harmless(name), Math.min(NAME_WIDTH, width >> 1));
  const left = ' '.repeat(label === '' ? 0 : widthOf(label) + GAP.length);
  const [first, last] = [steps[0], steps.at(-1)];
  const line = sparkline(
    values,
    Math.max(LEAST_COLUMNS, Math.min(MOST_COLUMNS, width - left.length)),
    letters,
  );
  const column = violation === undefined ? undefined : line.columnOf(violation);
  const span = first === undefined || last === undefined ? '' : `steps ${digits(first)} to ${digits(last)}`;
  const arrow = letters === 'ascii' ? '^' : '▲';
  const below =
    column === undefined || violation === undefined
      ? [left + paint.dim(span)]
      : laid(left, column, arrow, markOf(window, violation), width).map((each) => paint.orange(each));
  return [
    ...(several ? [shorten(harmless(`${run} · ${name}`), width)] : []),
    pad(label, left.length) + paint.blue(line.text),
    ...below,
  ];
}

function markOf({ steps, values }: SeriesWindow, at: number): string {
  return `step ${digits(steps[at] ?? 0)}: ${shortDigits(values[at] ?? Number.NaN)}`;
}

/** The mark under its column; its words beside it, on whichever side there is room. */
function laid(left: string, column: number, arrow: string, words: string, width: number): string[] {
  const before = ' '.repeat(left.length + column);
  if (before.length + arrow.length + 1 + widthOf(words) <= width) return [`${before}${arrow} ${words}`];
  const room = before.length - widthOf(words) - 1;
  return room >= 0 ? [`${' '.repeat(room)}${words} ${arrow}`] : [before + arrow, left + words];
}
