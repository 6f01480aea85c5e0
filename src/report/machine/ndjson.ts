// Events as JSON lines: written by `check` as the run goes on, read again for reports. A file may be cut off in the
// middle of a line, hold several runs, or come from another version.
import { pace } from '../../bounds.ts';
import type { Failure, RunEvent } from '../../check/events.ts';
import type { NumberDifference, SeriesWindow } from '../../check/property.ts';
import { parseStrict, withoutMark } from '../../outside/json.ts';
import type { Run } from '../runs.ts';
import { complaintAbout, isKnownType } from './event-shape.ts';

/** Of the lines; it stands in each `run-start`, and grows when a reader of the old ones would misread the new. */
const SCHEMA = 1;

/** One line with its newline. */
export function eventLine(event: RunEvent): string {
  const { type, ...fields } = event;
  const written = type === 'run-start' ? { type, schema: SCHEMA, ...fields } : event;
  return `${JSON.stringify(written, plainNumber)}\n`;
}

/**
 * Hands over the lines of a run as they come. Progress comes many thousand times per second and only tells a reader
 * that something moves: it is written where nothing else was for a while. `now` is in milliseconds.
 */
export function eventWriter(write: (line: string) => void, now: () => number): (event: RunEvent) => void {
  let last = now();
  return (event) => {
    if (event.type === 'shrinking') return;
    if (event.type === 'progress' && now() - last < PROGRESS_MILLISECONDS) return;
    last = now();
    write(eventLine(event));
  };
}

/** The events that runs are folded from, for a file that several are merged into. */
export function runLines(runs: readonly Run[]): string {
  return runs
    .flatMap(({ start, results, end }): RunEvent[] => [
      start,
      ...results.map((result) => ({ type: 'property-end', result }) as const),
      ...(end === undefined ? [] : [end]),
    ])
    .map(eventLine)
    .join('');
}

export interface ReadEvents {
  readonly events: readonly RunEvent[];
  /** Lines that were left out, one sentence each, with their number. */
  readonly problems: readonly string[];
}

/**
 * The events of a file's text. The last line may be torn, events that only newer versions know are left out, and so
 * is each line that is no event, with a problem. A text without any run is refused: no events, one problem.
 */
export function readEvents(text: string): ReadEvents {
  const lines = withoutMark(text).split('\n');
  const events: RunEvent[] = [];
  const problems: string[] = [];
  let unknown = 0;
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const read = readLine(line);
    if (read === undefined) unknown++;
    else if ('refused' in read) return { events: [], problems: [`line ${at + 1} ${read.refused}`] };
    else if ('event' in read) events.push(read.event);
    else if (!isTorn(line, read.wrong, at === lines.length - 1))
      problems.push(`line ${at + 1} ${read.wrong}; it is left out`);
  }
  if (events.some(({ type }) => type === 'run-start')) return { events, problems: shortened(problems) };
  if (events.length + problems.length + unknown === 0) return { events, problems: [] };
  return {
    events: [],
    problems: ['these are not the events of a lossproof run: none of the lines begins one'],
  };
}

/** About twice a second: what a reader sees move, in files that stay small. */
const PROGRESS_MILLISECONDS = pace(500);
/** A file that is wrong throughout needs no line for each. */
const MOST_PROBLEMS = 5;
const NO_JSON = 'is no JSON';

/** JSON has no NaN, and null would hide one: numbers that are not finite become text; so does a -0 that can be a finding. */
export function plainNumber(key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (Object.is(value, -0)) return COMPARED.has(key) ? '-0' : 0;
  return Number.isFinite(value) ? value : String(value);
}

const COMPARED: ReadonlySet<string> = new Set<keyof NumberDifference>(['expected', 'observed']);

type Line = { readonly event: RunEvent } | { readonly wrong: string } | { readonly refused: string };

/** Undefined for an event that only a newer version knows. */
function readLine(line: string): Line | undefined {
  const parsed = parseStrict(line);
  if ('complaint' in parsed) return { wrong: NO_JSON };
  const value = parsed.ok;
  if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string')
    return { wrong: 'is no event' };
  if (!isKnownType(value.type)) return undefined;
  const record = value as Readonly<Record<string, unknown>>;
  if (typeof record.schema === 'number' && record.schema > SCHEMA)
    return {
      refused: `was written by a newer lossproof (schema ${record.schema}, this one reads ${SCHEMA}); update lossproof to read it`,
    };
  const complaint = complaintAbout(record);
  if (complaint !== undefined) return { wrong: `is no ${value.type} event: ${complaint}` };
  return { event: withNumbers(record as unknown as RunEvent) };
}

/** Only the last line has no newline behind it: it is being written, or the run died while it was. */
function isTorn(line: string, wrong: string, last: boolean): boolean {
  return last && line.startsWith('{') && wrong === NO_JSON;
}

/** Numbers that crossed as text are numbers again. */
function withNumbers(event: RunEvent): RunEvent {
  if (event.type !== 'property-end') return event;
  const { failure, others } = event.result;
  if (failure === undefined) return event;
  return {
    ...event,
    result: {
      ...event.result,
      failure: failureRead(failure),
      ...(others === undefined ? {} : { others: others.map(failureRead) }),
    },
  };
}

function failureRead(failure: Failure): Failure {
  const { finding } = failure;
  if (finding === undefined) return failure;
  const numbers = finding.numbers?.map(
    ({ where, expected, observed, allowed }): NumberDifference => ({
      where,
      expected: Number(expected),
      observed: Number(observed),
      allowed: Number(allowed),
    }),
  );
  const series = finding.series?.map(
    ({ band, values, ...window }): SeriesWindow => ({
      ...window,
      values: values.map(Number),
      ...(band === undefined
        ? {}
        : { band: { steps: band.steps, lows: band.lows.map(Number), highs: band.highs.map(Number) } }),
    }),
  );
  const read = {
    ...finding,
    ...(numbers === undefined ? {} : { numbers }),
    ...(series === undefined ? {} : { series }),
  };
  return { ...failure, finding: read };
}

function shortened(problems: readonly string[]): readonly string[] {
  const more = problems.length - MOST_PROBLEMS;
  return more <= 0 ? problems : [...problems.slice(0, MOST_PROBLEMS), `and ${more} more lines are left out`];
}
