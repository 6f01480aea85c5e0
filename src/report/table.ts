// One row of the table: verdict, property, level, cases, and what is to be said about it in a few words.
import type { PropertyResult } from '../check/events.ts';
import { UNEXPLAINED } from '../check/known.ts';
import { percent } from '../check/labels.ts';
import type { Verdict } from '../vocabulary.ts';
import type { Paint } from './paint.ts';
import { brushOf, LOOKS, VERDICT_WIDTH } from './verdict.ts';
import { pad, widthOf, wrap } from './visible.ts';

export interface TableOptions {
  /** Every property of the run, so that the columns stand still while rows arrive. */
  readonly ids: readonly string[];
  readonly width: number;
  readonly paint: Paint;
  /** Below each row, the labels of its cases with their shares. */
  readonly labels?: boolean;
}

/** The row, and the warnings that belong to it. */
export function rowLines(result: PropertyResult, options: TableOptions): string[] {
  const { paint } = options;
  const look = LOOKS[result.verdict];
  const verdict = pad(`${look.glyph} ${look.word}`, VERDICT_WIDTH);
  const id = pad(result.id, Math.min(Math.max(0, ...options.ids.map(widthOf)), MOST_ID_WIDTH));
  const row = `${brushOf(result.verdict, paint)(verdict)}${SPACE}${id}${SPACE}${pad(result.level, LEVEL_WIDTH)}`;
  const left = options.width - widthOf(verdict) - widthOf(id) - LEVEL_WIDTH - 2 * SPACE.length;
  // A reason is a sentence: where it does not fit beside the row it stands whole below it.
  const rest = restOf(result);
  const beside = widthOf(rest) <= left;
  const below = beside ? [] : wrap(rest, options.width - INDENT.length);
  return [
    (beside ? row + paint.dim(rest) : row).trimEnd(),
    ...below.map((line) => paint.dim(INDENT + line)),
    ...warningsOf(result).flatMap((warning) =>
      wrap(warning, options.width - INDENT.length).map((line) => paint.orange(INDENT + line)),
    ),
    ...(options.labels ? labelLines(result).map((line) => paint.dim(INDENT + line)) : []),
    ...result.fixed.map((id) => `${INDENT}+ fixed ${id}: it holds now and is no longer kept`),
  ];
}

/** Rows that can be told in one: unsupported, of one stage and level, for one reason. */
export function goTogether(results: readonly PropertyResult[]): boolean {
  const keys = results.map(({ id, level, verdict, reason }) =>
    verdict === 'unsupported' ? [stageOf(id), level, reason].join('\n') : undefined,
  );
  return keys.every((key) => key !== undefined && key === keys[0]);
}

/** One row for results that go together. */
export function groupLines(results: readonly PropertyResult[], options: TableOptions): string[] {
  const [first] = results;
  if (first === undefined) return [];
  if (results.length === 1) return rowLines(first, options);
  const id = `${stageOf(first.id)}/ (${results.length} properties)`;
  // Its own width: what stands here is read by itself, and the reason then fits beside it.
  return rowLines({ ...first, id }, { ...options, ids: [id] });
}

function stageOf(id: string): string {
  return id.split('/')[0] ?? id;
}

const SPACE = '  ';
const LEVEL_WIDTH = 'should'.length + SPACE.length;
/** A longer id moves its own row only. */
const MOST_ID_WIDTH = 52;
const INDENT = '    ';
/** Where more than half of the cases were refused or set aside, little has been checked. */
const MUCH_REJECTED = 0.5;

/** "100 cases, 3 refused": what ran, and what of it was not judged. */
export function casesOf(result: PropertyResult): string {
  // Of a failure, what it took to find it, as in its block: more were in flight than that.
  const count = result.failure?.casesToFail ?? result.cases;
  return `${count} ${count === 1 ? 'case' : 'cases'}${result.failure === undefined ? notJudged(result) : ''}`;
}

function restOf(result: PropertyResult): string {
  if (REASON_ONLY.includes(result.verdict)) return result.reason ?? '';
  return casesOf(result) + (result.reason === undefined ? '' : `: ${result.reason}`);
}

/** Nothing was judged, or the reason counts the cases itself. */
const REASON_ONLY: readonly Verdict[] = ['unsupported', 'skipped', 'unseen', 'thin'];

/** Label, share of judged cases, threshold where there is one; the commonest first. Empty where nothing was judged. */
export function labelLines({ cases, rejected, setAside, labels, coverage = {} }: PropertyResult): string[] {
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

function warningsOf(result: PropertyResult): string[] {
  const unexplained =
    result.verdict === 'known' && result.reason === UNEXPLAINED
      ? ['! nobody has said why: put the reason into the file of known failures']
      : [];
  const much = result.rejected + result.setAside > result.cases * MUCH_REJECTED;
  const few = result.verdict === 'pass' && much ? [`! ${whoRefused(result)}, so this says little`] : [];
  return [...unexplained, ...few];
}

function notJudged({ rejected, setAside }: PropertyResult): string {
  return (rejected > 0 ? `, ${rejected} refused` : '') + (setAside > 0 ? `, ${setAside} set aside` : '');
}

/** Who left cases out: blaming the trainer for what the check could not use would send people looking for nothing. */
function whoRefused({ rejected, setAside, cases }: PropertyResult): string {
  const aside = `were set aside, because they say nothing about the rule`;
  if (setAside === 0) return `the trainer refused ${rejected} of ${cases} cases`;
  if (rejected === 0) return `${setAside} of ${cases} cases ${aside}`;
  return `of ${cases} cases the trainer refused ${rejected}, and ${setAside} ${aside}`;
}
