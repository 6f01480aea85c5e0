// Runs beside each other as a table on a terminal: what no run logs has no column.
import type { RankedRun } from '../../monitor/beside/ranking.ts';
import { digits } from '../text/numbers.ts';
import { shortDigits } from '../text/series-lines.ts';
import { harmless, pad, shorten, widthOf } from '../text/visible.ts';
import type { MonitorPrint } from './monitor.ts';

export interface RankColumn {
  readonly head: string;
  /** The same in a page, where there is room. */
  readonly long: string;
  readonly cell: (row: RankedRun) => string;
}

/** Only those of which any run has something. */
export function rankColumns(rows: readonly RankedRun[]): readonly RankColumn[] {
  return COLUMNS.filter(({ cell }) => rows.some((row) => cell(row) !== ''));
}

/** Nothing for fewer than two. */
export function rankLines(rows: readonly RankedRun[], { width, paint }: MonitorPrint): string[] {
  if (rows.length < 2) return [];
  const shown = rows.slice(0, MOST_ROWS);
  const columns = rankColumns(rows).map(({ head, cell }) => {
    const cells = shown.map(cell);
    return { head, cells, width: Math.max(widthOf(head), ...cells.map(widthOf)) };
  });
  // Narrower than its columns, the table loses the last but one: findings are what it is for.
  while (columns.length > 2 && sum(columns.map((each) => each.width + GAP.length)) > width - LEAST_NAME)
    columns.splice(-2, 1);
  const room = width - INDENT.length - sum(columns.map((each) => each.width + GAP.length));
  const names = ownNames(rows)
    .slice(0, MOST_ROWS)
    .map((name) => shortenedName(name, room));
  const nameWidth = Math.max('run'.length, ...names.map(widthOf));
  const line = (name: string, cells: readonly string[]): string =>
    [
      INDENT + pad(name, nameWidth),
      ...cells.map((cell, at) => ' '.repeat(Math.max(0, (columns[at]?.width ?? 0) - widthOf(cell))) + cell),
    ].join(GAP);
  const more = rows.length - shown.length;
  return [
    paint.dim(
      line(
        'run',
        columns.map(({ head }) => head),
      ),
    ),
    ...shown.map((row, at) => {
      const text = line(
        names[at] ?? '',
        columns.map(({ cells }) => cells[at] ?? ''),
      );
      return row.baseline ? paint.dim(text) : row.findings > 0 ? paint.orange(text) : text;
    }),
    ...(more > 0 ? [paint.dim(`${INDENT}and ${more.toLocaleString('en')} more`)] : []),
  ];
}

// --- helpers ---

const MOST_ROWS = 30;
const LEAST_NAME = 14;
const INDENT = '  ';
const GAP = '  ';

const number = (value: number | undefined): string => (value === undefined ? '' : shortDigits(value));

const COLUMNS: readonly RankColumn[] = [
  { head: 'steps', long: 'Steps', cell: ({ steps }) => (steps === undefined ? '' : digits(steps)) },
  { head: 'start', long: 'Loss, start', cell: ({ start }) => number(start) },
  { head: 'best', long: 'Best', cell: ({ best }) => number(best) },
  { head: 'end', long: 'End', cell: ({ end }) => number(end) },
  { head: 'eval', long: 'Evaluation, best', cell: ({ evaluation }) => number(evaluation) },
  { head: 'reward', long: 'Reward, end', cell: ({ reward }) => number(reward) },
  { head: 'grad', long: 'Gradient norm', cell: ({ gradNorm }) => number(gradNorm) },
  {
    head: 'wrong',
    long: 'Findings',
    cell: ({ findings, baseline }) => (baseline ? 'baseline' : String(findings)),
  },
];

/** Without the folders, and the name of the file, that all have in common. */
function ownNames(rows: readonly RankedRun[]): readonly string[] {
  const paths = rows.map(({ name }) => name.split('/'));
  const shortest = Math.min(...paths.map((path) => path.length));
  const isCommon = (at: number): boolean => new Set(paths.map((path) => path.at(at))).size === 1;
  let [left, right] = [0, 0];
  while (right < shortest - 1 && isCommon(-1 - right)) right++;
  while (left < shortest - 1 - right && isCommon(left)) left++;
  return paths.map((path) => path.slice(left, path.length - right).join('/'));
}

/** The end of a path tells runs apart. */
function shortenedName(name: string, room: number): string {
  const text = harmless(name);
  if (widthOf(text) <= room) return text;
  const letters = [...text];
  let kept = letters.length;
  while (kept > 1 && widthOf(letters.slice(-kept).join('')) > room - 1) kept--;
  return shorten(`…${letters.slice(-kept).join('')}`, room);
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
