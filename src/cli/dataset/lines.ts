// What is said of a data set that was written: what its rows show, what is missing, and how it is used.
import type { Dataset } from '../../generators/rows/dataset/dataset.ts';
import type { Paint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { harmless, pad, widthOf, wrap } from '../../report/text/visible.ts';

export interface DatasetPrint {
  readonly file: string;
  readonly form: string;
  readonly seed: number;
  /** How long a row may be, and by whose count. */
  readonly counted: string;
  /** The command that trains on it. */
  readonly use: string;
  readonly width: number;
  readonly paint: Paint;
}

export function coverageLines(
  { rows, labels, thin, left, roomy }: Dataset,
  { file, form, seed, counted, use, width, paint }: DatasetPrint,
): string[] {
  const shown = Object.entries(labels).toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const name = Math.max(0, ...shown.map(([label]) => widthOf(label)));
  const bullet = (text: string): string[] =>
    wrap(harmless(text), width - '! '.length).map((line, at) =>
      paint.orange((at === 0 ? '! ' : '  ') + line),
    );
  return [
    ...wrap(
      `wrote ${file}: ${plural(rows.length, 'row')} of form ${form}, seed ${seed}; ${counted}`,
      width,
    ).map(paint.bold),
    'Rows that show',
    ...shown.map(([label, count]) => `  ${pad(label, name)}  ${paint.dim(String(count).padStart(COUNT))}`),
    ...left.flatMap(({ label, why }) => bullet(`No row shows "${label}". ${why}`)),
    ...thin.flatMap(({ label, count, least }) =>
      bullet(
        `Only ${count} of the rows ${count === 1 ? 'shows' : 'show'} "${label}", at least ${least} should.`,
      ),
    ),
    ...(thin.length > 0 && rows.length < roomy ? bullet(`--rows ${roomy} has room for every kind.`) : []),
    '',
    `Train on it: ${use}`,
  ];
}

// --- helpers ---

const COUNT = 4;
