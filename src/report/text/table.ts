// One row of the table: verdict, property, level, cases, and what is to be said about it in a few words.
import { type Failure, isMuchLeftOut, type PropertyResult } from '../../check/events.ts';
import { percent } from '../../check/labels.ts';
import { UNEXPLAINED } from '../../check/saved/known.ts';
import type { Verdict } from '../../vocabulary.ts';
import { brushOf, LOOKS, VERDICT_WIDTH } from '../verdict.ts';
import type { Brush, Paint } from './paint.ts';
import { plural } from './plural.ts';
import { harmless, pad, widthOf, wrap } from './visible.ts';

export interface TableOptions {
  /** Every property of the run, so that the columns stand still while rows arrive. */
  readonly ids: readonly string[];
  readonly width: number;
  readonly paint: Paint;
  /** Below each row, the labels of its cases with their shares. */
  readonly labels?: boolean;
  /** What several rows are; default: properties. */
  readonly many?: string;
}

/** The row, and the warnings that belong to it. */
export function rowLines(result: PropertyResult, options: TableOptions): string[] {
  const { paint, width } = options;
  const below = (text: string, brush: Brush): string[] =>
    wrap(harmless(text), width - INDENT.length).map((line) => brush(INDENT + line));
  return [
    ...lineOf(
      { verdict: result.verdict, name: result.id, level: result.level, rest: restOf(result) },
      options,
    ),
    ...warningsOf(result).flatMap((warning) => below(warning, paint.orange)),
    ...(options.labels ? labelLines(result).map((line) => paint.dim(INDENT + line)) : []),
    ...result.fixed.flatMap((id) => below(`+ fixed ${id}: it holds now and is no longer kept`, String)),
    ...(result.outdated ?? []).flatMap((said) =>
      below(`- not judged ${said}; it is kept: delete it where that stays so`, String),
    ),
  ];
}

export interface Row {
  readonly verdict: Verdict;
  /** A property, or several in a few words. */
  readonly name: string;
  readonly level: string;
  readonly rest: string;
}

/** The row alone: in columns, or, where there is no room for them, the name above and the rest below it. */
export function lineOf({ verdict, name, level, rest: said }: Row, options: TableOptions): string[] {
  const { width, paint } = options;
  const brush = brushOf(verdict, paint);
  const look = LOOKS[verdict];
  const rest = harmless(said);
  const below = (text: string): string[] => belowRow(text, options);
  if (width < COLUMNS_WIDTH) {
    const head = `${look.glyph} ${look.word}`;
    const beside = widthOf(head) + SPACE.length + widthOf(name) <= width;
    return [
      ...(beside
        ? [`${brush(head)}${SPACE}${name}`]
        : [brush(head), ...hyphenated(name, width - INDENT.length).map((line) => INDENT + line)]),
      ...below([level, rest].filter((part) => part !== '').join(' · ')),
    ];
  }
  const head = pad(`${look.glyph} ${look.word}`, VERDICT_WIDTH);
  const cell = pad(name, nameWidth(options));
  const row = `${brush(head)}${SPACE}${cell}${SPACE}${pad(level, LEVEL_WIDTH)}`;
  const left = width - widthOf(head) - widthOf(cell) - LEVEL_WIDTH - 2 * SPACE.length;
  // A reason is a sentence: where it does not fit beside the row it stands whole below it.
  if (widthOf(rest) <= left) return [(row + paint.dim(rest)).trimEnd()];
  return [row.trimEnd(), ...below(rest)];
}

/** What is said of a row and stands below it; harmless already. */
export function belowRow(text: string, { width, paint }: TableOptions): string[] {
  return wrap(text, width - INDENT.length).map((line) => paint.dim(INDENT + line));
}

/** The longest name, as far as it leaves room for what is to be said; a longer one moves its own row only. */
function nameWidth({ ids, width }: TableOptions): number {
  const most = Math.max(
    LEAST_NAME_WIDTH,
    width - VERDICT_WIDTH - LEVEL_WIDTH - 2 * SPACE.length - REST_WIDTH,
  );
  return Math.min(Math.max(0, ...ids.map(widthOf)), most);
}

/** An id in lines, broken behind its hyphens. */
function hyphenated(name: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of name.split(/(?<=[-/])/)) {
    if (line !== '' && widthOf(line + part) > width) {
      lines.push(line);
      line = '';
    }
    line += part;
  }
  return [...lines, line];
}

const SPACE = '  ';
const LEVEL_WIDTH = 'should'.length + SPACE.length;
/** Narrower, there is no room for columns beside an id. */
const COLUMNS_WIDTH = 64;
/** Room beside the names for "2,100 cases, 30 refused" and most of the short reasons. */
const REST_WIDTH = 35;
/** "preference_loss/ (10 properties)" and most ids. */
const LEAST_NAME_WIDTH = 32;
const INDENT = '    ';
/** Where the trainer refused more than half of the cases, little has been checked. */
const MOSTLY = 0.5;

/** "1,100 cases, 3 refused": what ran, and what of it was not judged. */
export function casesOf(result: Pick<PropertyResult, 'cases' | 'rejected' | 'setAside' | 'failure'>): string {
  const { failure } = result;
  // Cases that none drew have no first one that fails: as many as its block says there were.
  if (failure?.saved === true || failure?.outOf !== undefined) return failedAt(failure);
  return plural(result.cases, 'case') + notJudged(result);
}

/** `failed at case 4 of 100`: which case it was, not how many fail. Of cases that none drew, how many there were. */
export function failedAt({ casesToFail, outOf, saved, finding }: Failure): string {
  const verb = finding?.answers === undefined ? 'failed' : 'seen';
  if (saved) return `${verb} in a saved case`;
  if (outOf === undefined) return plural(casesToFail, 'case');
  return `${verb} at case ${casesToFail.toLocaleString('en')} of ${outOf.toLocaleString('en')}`;
}

function restOf(result: PropertyResult): string {
  // What it asks stands in its block, with the lines that answer it.
  if (result.verdict === 'ask' && result.failure === undefined) return '';
  if (REASON_ONLY.includes(result.verdict)) return result.reason ?? '';
  // Of a pass, the warning below it gives the reason.
  const why = result.verdict === 'pass' ? undefined : result.reason;
  return casesOf(result) + (why === undefined ? '' : `: ${why}`);
}

/** Nothing was judged, or the reason counts the cases itself. */
const REASON_ONLY: readonly Verdict[] = ['unsupported', 'skipped', 'unseen', 'thin'];

/** Label, share of judged cases, threshold where there is one; the commonest first. Empty where nothing was judged. */
function labelLines({ cases, rejected, setAside, labels, coverage = {} }: PropertyResult): string[] {
  const judged = cases - rejected - setAside;
  if (judged === 0) return [];
  const names = [...new Set([...Object.keys(labels), ...Object.keys(coverage)])];
  const width = Math.max(0, ...names.map(widthOf));
  return names
    .map((name) => ({ name, share: (labels[name] ?? 0) / judged, least: coverage[name] }))
    .sort((a, b) => b.share - a.share)
    .map(({ name, share, least }) => {
      const line = `${pad(name, width)}  ${percent(share).padStart('99.9 %'.length)}`;
      return least === undefined ? line : `${line}  at least ${percent(least)}`;
    });
}

/** What a reader must not overlook although the verdict does not say it. */
export function warningsOf(result: PropertyResult): string[] {
  const unexplained =
    result.verdict === 'known' && result.reason === UNEXPLAINED
      ? ['! no reason given: add it to the file of known failures']
      : [];
  const few = tooFewJudged(result);
  return [...unexplained, ...(few === undefined ? [] : [`! ${few}`])];
}

/** Of a pass that rests on less than four fifths of its cases: whose doing that is. */
export function tooFewJudged(result: PropertyResult): string | undefined {
  if (result.verdict !== 'pass' || !isMuchLeftOut(result)) return undefined;
  // Of one case that was left out, the reason is its own.
  const often = result.rejected + result.setAside > 1 ? ', most often' : '';
  const why = result.reason === undefined ? '' : `${often}: ${result.reason}`;
  const little = result.rejected + result.setAside > result.cases * MOSTLY ? ', so this says little' : '';
  return `${whoRefused(result)}${little}${why}`;
}

function notJudged({ rejected, setAside }: Pick<PropertyResult, 'rejected' | 'setAside'>): string {
  const said = (count: number, what: string): string =>
    count > 0 ? `, ${count.toLocaleString('en')} ${what}` : '';
  return said(rejected, 'refused') + said(setAside, 'set aside');
}

/** Who left cases out: blaming the trainer for what the check could not use would send people looking for nothing. */
function whoRefused({ rejected, setAside, cases }: PropertyResult): string {
  if (setAside === 0) return `the trainer refused ${rejected} of ${cases} cases`;
  if (rejected === 0) return `${setAside} of ${cases} cases not judged`;
  return `of ${cases} cases the trainer refused ${rejected}, and ${setAside} were not judged`;
}
