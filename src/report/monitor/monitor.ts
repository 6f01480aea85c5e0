// Logs on a terminal: what was read, and a line for each series that has a role. The rules' own table and failures are
// terminal.ts, as for any run.
import type { Series } from '../../monitor/series.ts';
import type { RunView, SeriesView, Standing } from '../../monitor/view.ts';
import { digits } from '../text/numbers.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { shortDigits } from '../text/series-lines.ts';
import { type Letters, sparkline } from '../text/sparkline.ts';
import { harmless, pad, shorten, widthOf, wrap } from '../text/visible.ts';
import { LOOKS } from '../verdict.ts';
import { courseWords } from './courses.ts';

export interface MonitorPrint {
  readonly width: number;
  readonly paint: Paint;
  readonly letters: Letters;
}

export interface Read {
  readonly files: number;
  readonly points: number;
  readonly samples: number;
  readonly runs: readonly RunView[];
}

/** `2,400 points of 12 series in 1 run, steps 1 to 200`: what the verdict rests on. */
export function readWords({ points, samples, runs }: Read): string {
  const series = runs.reduce((sum, run) => sum + run.series.length + run.others.length, 0);
  return [
    ...(points > 0 || samples === 0
      ? [`${plural(points, 'point')} of ${plural(series, 'series', 'series')}`]
      : []),
    ...(samples > 0 ? [plural(samples, 'rollout')] : []),
    ...(runs.length > 1 ? [plural(runs.length, 'run')] : []),
  ].join(', ');
}

/** What was read, and run by run the series that rules ask for. */
export function monitorLines(read: Read, print: MonitorPrint): string[] {
  const { files, runs } = read;
  const { width, paint } = print;
  const shown = runs.slice(0, MOST_RUNS);
  const head = `seen: ${plural(files, 'file')} · ${readWords(read)}`;
  return [
    ...wrap(harmless(head), width).map(paint.bold),
    ...shown.flatMap((run) => ['', ...runLines(run, MOST_SERIES, print), ...courseLines(run, print)]),
    ...(runs.length > shown.length
      ? [
          '',
          ...wrap(
            `and ${plural(runs.length - shown.length, 'more run')} (--html FILE shows them all)`,
            width,
          ).map(paint.dim),
        ]
      : []),
  ];
}

export interface LiveView extends Read {
  readonly standing: Standing;
  /** Seconds since something new was read; undefined: nothing has been yet. */
  readonly silent: number | undefined;
  /** What is waited for, where nothing was read yet. */
  readonly waiting: string;
}

/** The block that is redrawn while a job is followed: at most `rows` lines, each narrower than `width`. */
export function liveLines(live: LiveView, rows: number, print: MonitorPrint): string[] {
  const { runs, standing, silent } = live;
  const { width, paint } = print;
  const since = silent === undefined ? live.waiting : silent < JUST_NOW ? 'just now' : `${ago(silent)} ago`;
  const head = silent === undefined ? since : `${readWords(live)} · last point ${since}`;
  const states = [
    ...(standing.broken.length > 0
      ? [
          paint.orange(
            `${LOOKS.fail.glyph} ${plural(new Set(standing.broken.map(({ rule }) => rule.id)).size, 'rule')} ${standing.broken.length === 1 ? 'fails' : 'fail'}`,
          ),
        ]
      : []),
    ...(standing.holding > 0 ? [`${LOOKS.pass.glyph} ${standing.holding} hold`] : []),
    ...(standing.waiting > 0 ? [paint.dim(`${standing.waiting} wait for something to judge`)] : []),
  ];
  const room = Math.max(1, rows - FRAME);
  // The newest run is the one that is being written.
  const ordered = runs.toReversed();
  const body: string[] = [];
  for (const run of ordered) {
    const left = room - body.length;
    if (left < 2) break;
    body.push(...runLines(run, left - 2, print));
  }
  return [
    paint.bold(shorten(harmless(head), width)),
    ...body.slice(0, room),
    ...(states.length > 0 ? [joined(states, width)] : []),
  ];
}

/** One line about a violation, as it happens. */
export function newsLine(rule: string, run: string, sentence: string, several: boolean): string {
  return harmless(`${LOOKS.fail.glyph} ${rule}  ${several ? `In ${run}: ` : ''}${sentence}`);
}

// --- helpers ---

/** Of finished logs on a screen; a page has them all. */
const MOST_RUNS = 6;
const MOST_SERIES = 40;
const NAME_WIDTH = 36;
const ROLE_WIDTH = 22;
const LINE_WIDTH = 30;
const LEAST_LINE = 8;
const GAP = '  ';
const INDENT = '  ';
/** The head and the states of the live view. */
const FRAME = 2;
const JUST_NOW = 5;

function joined(parts: readonly string[], width: number): string {
  const line = parts.join(' · ');
  // Escape codes take no columns and must not be cut.
  return widthOf(line) <= width ? line : (parts[0] ?? '');
}

/** Under the table: numbers of a loss or a reward that a person compares. */
function courseLines(run: RunView, { width, paint }: MonitorPrint): string[] {
  return courseWords(run).flatMap(({ view, words }) =>
    wrap(harmless(`${view.series.name} ${words}`), width - 2 * INDENT.length).map((line) => {
      const text = INDENT + INDENT + line;
      return view.broken.length > 0 ? paint.orange(text) : text;
    }),
  );
}

/** The name of the run and a line for each series; at most `most` of these. */
export function runLines(run: RunView, most: number, print: MonitorPrint): string[] {
  const { width, paint } = print;
  const { name, samples, steps, others } = run;
  // What is wrong is shown whatever is left out.
  const ordered = run.series.toSorted((a, b) => Number(b.broken.length > 0) - Number(a.broken.length > 0));
  const kept = new Set(ordered.slice(0, Math.max(0, most)));
  const shown = run.series.filter((view) => kept.has(view));
  const left = run.series.length - shown.length;
  const facts = [
    ...(steps === undefined ? [] : [`steps ${digits(steps[0])} to ${digits(steps[1])}`]),
    ...(samples > 0 ? [plural(samples, 'rollout')] : []),
    ...(left > 0 ? [`${left.toLocaleString('en')} more series with a role`] : []),
    ...(others.length > 0 ? [`${others.length.toLocaleString('en')} without a role`] : []),
  ].join(', ');
  const head = shorten(harmless(`${name}  ${facts}`), width);
  return [
    paint.bold(head.slice(0, name.length)) + paint.dim(head.slice(name.length)),
    ...tableLines(shown, print),
  ];
}

function tableLines(views: readonly SeriesView[], { width, paint, letters }: MonitorPrint): string[] {
  const rows = views.map((view) => ({
    view,
    name: shorten(harmless(view.series.name), NAME_WIDTH),
    role: roleWords(view.series),
    last: shortDigits(view.value),
    step: `step ${digits(view.step)}`,
  }));
  const most = (of: (row: (typeof rows)[number]) => string, limit: number): number =>
    Math.min(limit, Math.max(0, ...rows.map((row) => widthOf(of(row)))));
  const nameWidth = most(({ name }) => name, Math.min(NAME_WIDTH, Math.max(12, width >> 2)));
  const last = most(({ last: each }) => each, width);
  const step = most(({ step: each }) => each, width);
  const flag = 1;
  const fixed = INDENT.length + flag + 1 + nameWidth + GAP.length + GAP.length + last;
  // Dropped from the right as the screen gets narrower: the role first, then the step, then the line.
  const roleWidth = most(({ role: each }) => each, ROLE_WIDTH);
  const role =
    roleWidth > 0 && fixed + step + roleWidth + LEAST_LINE + 2 * GAP.length <= width ? roleWidth : 0;
  const stepShown = fixed + step + GAP.length + LEAST_LINE <= width;
  const line = Math.min(
    LINE_WIDTH,
    width - fixed - (role > 0 ? role + GAP.length : 0) - (stepShown ? step + GAP.length : 0),
  );
  return rows.map(({ view, name, role: of, last: value, step: at }) => {
    const wrong = view.broken.length > 0;
    const spark =
      line < LEAST_LINE
        ? ''
        : sparkline(
            view.points().map((point) => point.value),
            line,
            letters,
          ).text;
    const brush = wrong ? paint.orange : String;
    return [
      INDENT,
      brush(wrong ? LOOKS.fail.glyph : ' '),
      ' ',
      pad(shorten(name, nameWidth), nameWidth),
      GAP,
      ...(role > 0 ? [paint.dim(pad(shorten(of, role), role)), GAP] : []),
      ...(line < LEAST_LINE ? [] : [paint.blue(pad(spark, line)), GAP]),
      brush(' '.repeat(Math.max(0, last - widthOf(value))) + value),
      ...(stepShown ? [GAP, paint.dim(at)] : []),
    ]
      .join('')
      .trimEnd();
  });
}

/** What a series is, where its name does not say the same; measured on held-out data, it is not judged by its role. */
export function roleWords({ role, name, evaluation }: Series): string {
  if (evaluation) return 'evaluation';
  return role === undefined || role === name ? '' : role;
}

/** `40 s`, `12 min`, `3 h`. */
export function ago(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
