// One row of the table: verdict, property, level, cases, and what is to be said about it in a few words.
import type { PropertyResult } from '../check/events.ts';
import type { Paint } from './paint.ts';
import { brushOf, LOOKS, VERDICT_WIDTH } from './verdict.ts';
import { pad, shorten, widthOf, wrap } from './visible.ts';

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
  const rest = `${pad(result.level, LEVEL_WIDTH)}${restOf(result)}`;
  const used = widthOf(verdict) + widthOf(id) + 2 * SPACE.length;
  return [
    `${brushOf(result.verdict, paint)(verdict)}${SPACE}${id}${SPACE}${paint.dim(shorten(rest, Math.max(MIN_REST, options.width - used)))}`.trimEnd(),
    ...warningsOf(result).flatMap((warning) =>
      wrap(warning, options.width - WARNING_INDENT.length).map((line) => paint.orange(WARNING_INDENT + line)),
    ),
    ...result.fixed.map((id) => `${WARNING_INDENT}+ fixed ${id}: it holds now and is no longer kept`),
  ];
}

const SPACE = '  ';
const LEVEL_WIDTH = 'should'.length + SPACE.length;
/** A longer id moves its own row only. */
const MOST_ID_WIDTH = 52;
const MIN_REST = 12;
const WARNING_INDENT = '    ';
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
