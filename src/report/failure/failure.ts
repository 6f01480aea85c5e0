// One failed property as a block of text: the sentence, the strip, the numbers, the smallest case, and how to
// see it again. A trainer that failed to answer gets its message, its advice and the end of what it printed.
import type { Failure, PropertyResult, Replay } from '../../check/events.ts';
import { failingLabelsSentence } from '../../check/failing-labels.ts';
import type { Finding } from '../../check/property.ts';
import { type SentTemplate, sentTemplate, withoutTemplate } from '../../check/sent-template.ts';
import { numberLines } from '../text/numbers.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { seriesLines } from '../text/series-lines.ts';
import type { Letters } from '../text/sparkline.ts';
import { stripLines } from '../text/strip.ts';
import { failedAt } from '../text/table.ts';
import { clipped, harmless, widthOf, wrap } from '../text/visible.ts';
import { brushOf, LOOKS } from '../verdict.ts';
import { reproduceLine, reproduceLines } from './reproduce.ts';
import { troubleIn, troubleLines } from './trouble.ts';

export interface BlockOptions {
  readonly width: number;
  readonly paint: Paint;
  readonly replay: Replay;
  /** false: the property is none of the catalogue, which is what `explain` knows. */
  readonly explained?: boolean;
  /** Print every way to reproduce it, not only the shortest. */
  readonly allWays?: boolean;
  /** What lines of logged numbers are drawn with. */
  readonly letters?: Letters;
}

/** Lines of the block, none wider than `width` except where one word is. `[]` for a result without a failure. */
export function failureLines(result: PropertyResult, options: BlockOptions): string[] {
  const { failure } = result;
  if (failure === undefined) return [];
  const inner = { ...options, width: options.width - INDENT.length };
  const body = [
    ...toldLines(failure, inner),
    ...failingLabelLines(result, inner),
    ...knownLines(result, inner),
    ...(isDrawn(failure, options.replay) ? [] : caseLines(failure, inner)),
    '',
    ...(options.allWays === true ? reproduceLines : reproduceLine)(failure, options.replay),
    ...(options.explained === false || options.replay.golden === true
      ? []
      : [`${EXPLAIN}npx lossproof explain ${result.id}`]),
    ...(result.others ?? []).flatMap((other) => otherLines(other, inner)),
  ];
  return [...headLines(result, failure, options), ...body.map(indented)];
}

/** What is wrong in one case, and whether it is so again. */
function toldLines(failure: Failure, inner: BlockOptions): string[] {
  const trouble = troubleIn(failure);
  return [
    ...(failure.finding === undefined ? [] : findingLines(failure.finding, inner)),
    ...(trouble === undefined ? [] : troubleLines(trouble, inner)),
    ...confirmationLines(failure, inner),
    ...sameAsLines(failure, inner),
    ...explanationOf(failure).flatMap((said) => ['', ...wrap(said, inner.width)]),
  ];
}

/** What else is wrong: another cause is another case, and is mended apart. */
function otherLines(other: Failure, options: BlockOptions): string[] {
  const head = `${BESIDE}${foundIn(other)}:`;
  return [
    '',
    ...wrap(head, options.width).map(options.paint.bold),
    ...toldLines(other, options),
    ...caseLines(other, options),
    '',
    ...reproduceLine(other, options.replay),
  ];
}

function sameAsLines({ sameAs }: Failure, { width }: BlockOptions): string[] {
  if (sameAs === undefined) return [];
  return ['', ...wrap(`The trainer fails here as in ${sameAs}, where the case is made small.`, width)];
}

/** What else may be behind it, as a sentence; none: nothing is known. */
export function explanationOf(failure: Failure | undefined): string[] {
  return failure?.explainedBy === undefined
    ? []
    : [`${failure.explainedBy} fails: one request has two answers, which may be all that is wrong here.`];
}

/** The same failure in few lines: one sentence, and how to see it. */
export function shortLines(
  result: PropertyResult,
  failure: Failure,
  sentence: string,
  options: BlockOptions,
): string[] {
  return [
    ...headLines(result, failure, options),
    ...wrap(harmless(sentence), options.width - INDENT.length).map(indented),
    ...othersSaid(result).flatMap((said) =>
      wrap(harmless(said), options.width - INDENT.length).map(indented),
    ),
    ...reproduceLine(failure, options.replay).map(indented),
  ];
}

/** What is wrong: the sentence of the finding, or of the trainer that failed to answer. */
export function saidOf(failure: Failure | undefined): string | undefined {
  return failure?.finding?.sentence ?? failure?.trainerFailure?.message;
}

/** A sentence for each further cause: "Beside it, in 12 cases, 3 shrinks: ...". */
export function othersSaid({ others = [] }: Pick<PropertyResult, 'others'>): string[] {
  return others.map((other) => `${BESIDE}${foundIn(other)}: ${saidOf(other) ?? ''}`);
}

const DECLARE = 'Where it is meant, this declares it:';
const ANSWER = 'One line of "semantics" answers it, in the configuration or where the adapter serves:';

/** How a question is answered: the lines that may be declared, one below the other. */
export function answerLines(
  answers: readonly string[] | undefined,
  { width, replay }: Pick<BlockOptions, 'width' | 'replay'>,
): string[] {
  if (answers === undefined || answers.length === 0) return [];
  return [
    '',
    ...wrap(replay?.traced === true ? DECLARE : ANSWER, width),
    ...answers.map((answer) => `  ${harmless(answer)}`),
  ];
}

function headLines(
  result: PropertyResult,
  failure: Failure,
  { width, paint, replay }: BlockOptions,
): string[] {
  const head = `${LOOKS[result.verdict].glyph} ${result.id}`;
  const painted = brushOf(result.verdict, paint)(paint.bold(head));
  const found = facts(result, failure, replay);
  return widthOf(head) + GAP.length + widthOf(found) <= width
    ? [`${painted}${GAP}${paint.dim(found)}`]
    : [painted, ...wrap(found, width - INDENT.length).map((line) => INDENT + paint.dim(line))];
}

function indented(line: string): string {
  return line === '' ? '' : INDENT + line;
}

const GAP = '  ';
const BESIDE = 'Beside it, ';
/** As wide as "Reproduce", which it stands below. */
const EXPLAIN = 'Explain     ';
const INDENT = '  ';
/** More rows than this of one case repeat the picture. */
export const MOST_STRIPS = 3;
/** A case that needs more characters is better read in its file. */
const SHORT_CASE = 600;

/** `must · failed at case 34 of 100, 9 shrinks`; of a traced script, or of logs, what was judged. */
export function facts(result: PropertyResult, failure: Failure, replay?: Replay): string {
  if (replay?.logged === true) return `${result.level} · judged ${plural(result.cases, 'time')}`;
  if (replay?.golden === true) return 'recorded answer';
  if (replay?.traced === true) return `${result.level} · ${plural(result.cases, 'case')} of this run`;
  return `${result.level} · ${foundIn(failure)}`;
}

/** `failed at case 34 of 100, 9 shrinks`. */
export function foundIn(failure: Failure): string {
  const shrinks = failure.sameAs === undefined ? plural(failure.shrinks, 'shrink') : 'as drawn';
  const found = failedAt(failure) + (failure.saved ? '' : `, ${shrinks}`);
  return failure.shrinkStopped === undefined ? found : `${found} (shrinking stopped early)`;
}

function findingLines(finding: Finding, options: BlockOptions): string[] {
  const { width, paint, letters } = options;
  const series = seriesLines(finding.series ?? [], { width, paint, ...(letters && { letters }) });
  const strips = finding.strips ?? [];
  const numbers = numberLines(finding.numbers ?? [], width);
  const more = strips.length - MOST_STRIPS;
  return [
    ...wrap(harmless(finding.sentence), width),
    ...(series.length > 0 ? ['', ...series] : []),
    ...strips.slice(0, MOST_STRIPS).flatMap((strip) => ['', ...stripLines(strip, width, paint)]),
    ...(more > 0 ? ['', `and ${plural(more, 'more row')}`] : []),
    ...(numbers.length > 0 ? ['', ...numbers] : []),
    ...answerLines(finding.answers, options),
    ...(finding.advice === undefined ? [] : ['', ...wrap(harmless(`What to do: ${finding.advice}`), width)]),
    ...(finding.note === undefined ? [] : ['', ...wrap(harmless(finding.note), width).map(paint.dim)]),
  ];
}

function failingLabelLines({ failingLabels }: PropertyResult, { width }: BlockOptions): string[] {
  const sentence = failingLabelsSentence(failingLabels);
  return sentence === '' ? [] : ['', ...wrap(harmless(sentence), width)];
}

function confirmationLines(failure: Failure, { width }: BlockOptions): string[] {
  const sentence = CONFIRMED[failure.confirmed];
  return sentence === undefined ? [] : ['', ...wrap(sentence, width)];
}

/** What running the case again has shown, where it did not simply fail again. */
export const CONFIRMED: Readonly<Partial<Record<Failure['confirmed'], string>>> = {
  'some processes':
    'Some processes: only some of several fresh processes fail. Look for a difference between them: the order of a set (PYTHONHASHSEED), a seed that is not set, the clock, a race.',
  'state leak':
    'State leak: it happens in the process that has answered other cases, and not in a fresh one. Something is kept from one request to the next.',
  flaky:
    'Flaky: the same case did not fail when it was run again. Look first for state kept from an earlier request (a cache, a counter, a buffer that is reused), then for randomness, dropout or a race.',
};

function knownLines(result: PropertyResult, { width }: BlockOptions): string[] {
  if (result.reason === undefined) return [];
  if (result.verdict === 'known') return ['', ...wrap(harmless(`Known: ${result.reason}`), width)];
  if (result.verdict === 'changed') return ['', ...wrap(harmless(`Changed: ${result.reason}.`), width)];
  return [];
}

/** Where a logged number, or a rollout, is drawn, its case says the same in figures. */
function isDrawn({ finding }: Failure, { logged }: Replay): boolean {
  return logged === true && (finding?.series !== undefined || finding?.strips !== undefined);
}

/** The chat template that was sent, always, and the case where it is short enough to be read. */
function caseLines(failure: Failure, { width, paint }: BlockOptions): string[] {
  const template = sentTemplate(failure);
  const given = template === undefined ? failure.given : withoutTemplate(failure.given, '(above)');
  const text = JSON.stringify(given) as string | undefined;
  const shown = text === undefined || text.length > SHORT_CASE ? [] : [text];
  return [
    ...(template === undefined ? [] : ['', ...templateLines(template, width).map(paint.dim)]),
    ...shown.flatMap((each) => [
      '',
      ...labelled('Case   ', chunks(harmless(each), width - 'Case   '.length)).map(paint.dim),
    ]),
  ];
}

/** A family is known by its name; any other template is shown as it was sent. */
function templateLines({ source, family }: SentTemplate, width: number): string[] {
  if (family !== undefined) return wrap(`Chat template sent along: the shape of ${family}`, width);
  const lines = source.split('\n');
  const more = lines.length - MOST_TEMPLATE;
  return [
    'Chat template sent along:',
    ...lines
      .slice(0, MOST_TEMPLATE)
      .flatMap((line) => wrap(harmless(clipped(line, MOST_TEMPLATE_LINE)), width - INDENT.length))
      .map(indented),
    ...(more > 0 ? [indented(`and ${plural(more, 'more line')}`)] : []),
  ];
}

/** Those of the generators have some twenty; a released one may have hundreds, and is known to its users. */
const MOST_TEMPLATE = 30;
const MOST_TEMPLATE_LINE = 1_000;

function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => (at === 0 ? label : ' '.repeat(label.length)) + line);
}

/** Breaks behind commas, so that no number is torn apart. */
function chunks(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of text.split(/(?<=,)/u)) {
    if (line !== '' && widthOf(line) + widthOf(piece) > width) {
      lines.push(line);
      line = '';
    }
    line += piece;
  }
  return [...lines, line];
}
