// One row of the table: verdict, property, level, cases, and what is to be said about it in a few words.
import type { PropertyResult } from '../check/events.ts';
import type { Paint } from './paint.ts';
import { brushOf, LOOKS, VERDICT_WIDTH } from './verdict.ts';
import { pad, widthOf, wrap } from './visible.ts';

export interface TableOptions {
  /** Every property of the run, so that the columns stand still while rows arrive. */
  readonly ids: readonly string[];
  readonly width: number;
  readonly paint: Paint;
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
/** A trainer that refuses more than half of the cases has hardly been checked. */
const MUCH_REJECTED = 0.5;

function restOf(result: PropertyResult): string {
  if (result.verdict === 'unsupported' || result.verdict === 'skipped') return result.reason ?? '';
  const cases = `${result.cases} ${result.cases === 1 ? 'case' : 'cases'}`;
  const rejected = result.rejected > 0 ? `, ${result.rejected} refused` : '';
  const reason = result.reason === undefined ? '' : `: ${result.reason}`;
  return cases + rejected + reason;
}

function warningsOf(result: PropertyResult): string[] {
  const thin = result.thin.map(
    ({ label, share, least }) =>
      `! thin: only ${percent(share)} of the cases had "${label}", fewer than ${percent(least)}`,
  );
  const refused =
    result.verdict === 'pass' && result.rejected > result.cases * MUCH_REJECTED
      ? [`! the trainer refused ${result.rejected} of ${result.cases} cases, so this says little`]
      : [];
  return [...thin, ...refused];
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
