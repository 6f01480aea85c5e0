// One failed property as a block of text: the sentence, the strip, the numbers, the smallest case, and how to
// see it again. A trainer that failed to answer gets its message, its advice and the end of what it printed.
import type { Failure, PropertyResult, Replay } from '../check/events.ts';
import type { Finding } from '../check/property.ts';
import { numberLines } from './numbers.ts';
import type { Paint } from './paint.ts';
import { reproduceLines } from './reproduce.ts';
import { stripLines } from './strip.ts';
import { troubleLines } from './trouble.ts';
import { brushOf, LOOKS } from './verdict.ts';
import { shorten, wrap } from './visible.ts';

export interface BlockOptions {
  readonly width: number;
  readonly paint: Paint;
  readonly replay: Replay;
}

/** Lines of the block, none wider than `width` except where one word is. `[]` for a result without a failure. */
export function failureLines(result: PropertyResult, options: BlockOptions): string[] {
  const { failure } = result;
  if (failure === undefined) return [];
  const { paint } = options;
  const head = `${LOOKS[result.verdict].glyph} ${result.id}`;
  const inner = { ...options, width: options.width - INDENT.length };
  const body = [
    ...(failure.finding === undefined ? [] : findingLines(failure.finding, inner)),
    ...(failure.trainerFailure === undefined
      ? []
      : troubleLines({ ...stderrOf(failure), ...failure.trainerFailure }, inner)),
    ...confirmationLines(failure, inner),
    ...knownLines(result, inner),
    ...caseLines(failure.given, inner),
    '',
    ...reproduceLines(failure, options.replay),
  ];
  return [
    `${brushOf(result.verdict, paint)(paint.bold(head))}  ${paint.dim(facts(result, failure))}`,
    ...body.map((line) => (line === '' ? '' : INDENT + line)),
  ];
}

/** What makes two trainer failures one: the sentence, whatever numbers the case brought into it. */
export function troubleKey({ failure }: PropertyResult): string | undefined {
  const trouble = failure?.trainerFailure;
  return trouble === undefined ? undefined : `${trouble.kind} ${trouble.message.replaceAll(/\d+/g, '#')}`;
}

/** The block of a failure that was already told in full under `first`. */
export function repeatLines(result: PropertyResult, first: string, options: BlockOptions): string[] {
  const { failure } = result;
  if (failure === undefined) return [];
  const { paint, width } = options;
  const head = `${LOOKS[result.verdict].glyph} ${result.id}`;
  const [replay = ''] = reproduceLines(failure, options.replay);
  return [
    `${brushOf(result.verdict, paint)(paint.bold(head))}  ${paint.dim(facts(result, failure))}`,
    ...wrap(`The trainer fails here as in ${first}, above.`, width - INDENT.length).map(
      (line) => INDENT + line,
    ),
    INDENT + replay,
  ];
}

const INDENT = '  ';
/** More rows than this of one case repeat the picture. */
const MOST_STRIPS = 3;
/** A case that needs more characters is better read in its file. */
const SHORT_CASE = 600;
function facts(result: PropertyResult, failure: Failure): string {
  const found = failure.saved
    ? 'a saved case'
    : `${plural(failure.casesToFail, 'case')}, ${plural(failure.shrinks, 'shrink')}`;
  const stopped = failure.shrinkStopped === undefined ? '' : ' (shrinking stopped at its time limit)';
  return `${result.level} · ${found}${stopped}`;
}

function findingLines(finding: Finding, { width, paint }: BlockOptions): string[] {
  const strips = finding.strips ?? [];
  const numbers = numberLines(finding.numbers ?? []);
  const more = strips.length - MOST_STRIPS;
  return [
    ...wrap(finding.sentence, width),
    ...strips.slice(0, MOST_STRIPS).flatMap((strip) => ['', ...stripLines(strip, width, paint)]),
    ...(more > 0 ? ['', `and ${plural(more, 'more row')}`] : []),
    ...(numbers.length > 0 ? ['', ...numbers.map((line) => shorten(line, width))] : []),
    ...(finding.note === undefined ? [] : ['', ...wrap(finding.note, width).map(paint.dim)]),
  ];
}

/** The engine's copy stands in where the trainer's failure has none. */
function stderrOf({ stderrTail }: Failure): { stderrTail?: string } {
  return stderrTail === undefined ? {} : { stderrTail };
}

function confirmationLines(failure: Failure, { width }: BlockOptions): string[] {
  const sentence = CONFIRMED[failure.confirmed];
  return sentence === undefined ? [] : ['', ...wrap(sentence, width)];
}

const CONFIRMED: Readonly<Partial<Record<Failure['confirmed'], string>>> = {
  'state leak':
    'State leak: it happens in the process that has answered other cases, and not in a fresh one. Something is kept from one request to the next.',
  flaky:
    'Flaky: the same case did not fail when it was run again. Look first for state kept from an earlier request (a cache, a counter, a buffer that is reused), then for randomness, dropout or a race.',
};

function knownLines(result: PropertyResult, { width }: BlockOptions): string[] {
  if (result.reason === undefined) return [];
  if (result.verdict === 'known') return ['', ...wrap(`Known: ${result.reason}`, width)];
  if (result.verdict === 'changed') return ['', ...wrap(`Changed: ${result.reason}.`, width)];
  return [];
}

function caseLines(given: unknown, { width, paint }: BlockOptions): string[] {
  const text = JSON.stringify(given) as string | undefined;
  if (text === undefined || text.length > SHORT_CASE) return [];
  const label = 'Case   ';
  return [
    '',
    ...chunks(text, width - label.length).map((chunk, at) =>
      paint.dim((at === 0 ? label : ' '.repeat(label.length)) + chunk),
    ),
  ];
}

/** Breaks behind commas, so that no number is torn apart. */
function chunks(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of text.split(/(?<=,)/u)) {
    if (line !== '' && line.length + piece.length > width) {
      lines.push(line);
      line = '';
    }
    line += piece;
  }
  return [...lines, line];
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
