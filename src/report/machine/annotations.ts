// Annotations of a GitHub workflow: lines on standard output that the runner turns into notes beside the code. Few are
// shown, so the most important come first and a last one counts them all.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
import { failingLabelsSentence } from '../../check/failing-labels.ts';
import type { Strip } from '../../check/property.ts';
import { type Complaint, complaintsOf, cutOffSentence, scriptOf, sentenceOf } from '../complaints.ts';
import { againFor, againLine, replayLine } from '../failure/reproduce.ts';
import { BUNDLED, isCutOff, notBegun, type Run, runNames } from '../runs.ts';
import { runLine } from '../summary.ts';
import { clipped, harmless, pad, shorten, visible, widthOf } from '../text/visible.ts';

/** Workflow commands, one a line and without its newline. */
export function annotationLines(runs: readonly Run[]): string[] {
  const names = runNames(runs);
  const titled = (run: Run): string => {
    const whose = run.start.bundled === true ? BUNDLED : names[runs.indexOf(run)];
    return runs.length === 1 && run.start.bundled !== true ? '' : ` (${whose})`;
  };
  const complaints = runs.flatMap(complaintsOf);
  const cutOff = runs.filter(isCutOff).map((run) => ({
    title: `lossproof${titled(run)}`,
    message: `${cutOffSentence(run)}\n\n${againLine(run)}`,
  }));
  const of = (weight: Complaint['weight']): readonly Note[] =>
    complaints
      .filter((complaint) => complaint.weight === weight)
      .map(({ run, result }) => ({
        title: `${result.id}${titled(run)}`,
        message: messageOf({ run, result, weight }),
        file: scriptOf(run.start.command),
      }));
  const undecided = runs.flatMap((run) =>
    run.end?.noVerdict === undefined || notBegun(run) !== undefined
      ? []
      : [{ title: `lossproof${titled(run)}`, message: run.end.noVerdict, file: scriptOf(run.start.command) }],
  );
  const errors = [...cutOff, ...of('error')];
  const warnings = [...undecided, ...of('warning')];
  const more = Math.max(0, errors.length - MOST_OF_A_TYPE) + Math.max(0, warnings.length - MOST_OF_A_TYPE);
  return [
    ...errors.slice(0, MOST_OF_A_TYPE).map((note) => commandLine('error', note)),
    ...warnings.slice(0, MOST_OF_A_TYPE).map((note) => commandLine('warning', note)),
    commandLine('notice', { title: 'lossproof', message: countMessage(runs, names, more) }),
  ];
}

/** GitHub shows so many errors, warnings and notices of a step, and drops the others without a word. */
const MOST_OF_A_TYPE = 10;
/** The runner cuts what is longer than 4,096 characters, wherever that is. */
const MOST_MESSAGE = 3_800;
const MOST_TITLE = 200;
/** Columns either side of the first mark, as many as fit: an off-by-one shows in three. */
const AROUND = [2, 1, 0];
/** A wider strip is folded by the page, and then says nothing. */
const MOST_WIDTH = 90;
const CELL_WIDTH = 18;

interface Note {
  readonly title: string;
  readonly message: string;
  readonly file?: string | undefined;
}

function messageOf({ run, result }: Complaint): string {
  const { failure } = result;
  const shared = failingLabelsSentence(result.failingLabels);
  const strip = failure?.finding?.strips?.[0];
  const pictures = strip === undefined ? [] : AROUND.map((around) => stripAroundMark(strip, around));
  const picture = pictures.find((lines) => lines.every((line) => widthOf(line) <= MOST_WIDTH)) ?? [];
  const again = [failure === undefined ? undefined : replayLine(run, failure), againFor(run, result)].filter(
    (line) => line !== undefined,
  );
  return [
    clipped(sentenceOf(result), MOST_MESSAGE / 2),
    ...(shared === '' ? [] : [clipped(harmless(shared), MOST_MESSAGE / 4)]),
    ...(picture.length === 0 ? [] : ['', ...picture]),
    ...(again.length === 0 ? [] : ['', ...again]),
  ].join('\n');
}

/** Lines of the columns around the first mark, which stands in brackets; `[]` where nothing is marked. */
function stripAroundMark(strip: Strip, around: number): string[] {
  const [mark] = strip.marks;
  if (mark === undefined) return [];
  const first = Math.max(0, mark - around);
  const columns = Array.from({ length: mark + around + 1 - first }, (_, at) => first + at).filter(
    (at) => at < strip.tokens.length,
  );
  const texts = strip.tokens.some(({ text }) => text !== undefined);
  const rows = [
    {
      name: texts ? 'token' : 'id',
      cell: (at: number) => {
        const token = strip.tokens[at];
        return texts ? visible(token?.text ?? '') : String(token?.id ?? at);
      },
    },
    ...strip.tracks.map(({ name, cells }) => ({ name, cell: (at: number) => cells[at] ?? '' })),
  ];
  const label = Math.max(...rows.map(({ name }) => widthOf(name)));
  const shown = (text: string, at: number): string =>
    at === mark ? `[${shorten(text, CELL_WIDTH)}]` : shorten(text, CELL_WIDTH);
  const widths = columns.map((at) => Math.max(...rows.map(({ cell }) => widthOf(shown(cell(at), at)))));
  const ends = [first > 0 ? '… ' : '', (columns.at(-1) ?? 0) < strip.tokens.length - 1 ? ' …' : ''];
  return rows.map(({ name, cell }) => {
    const cells = columns.map((at, index) => pad(shown(cell(at), at), widths[index] ?? 0));
    return `${pad(name, label)}  ${ends[0]}${cells.join(' │ ')}${ends[1]}`.trimEnd();
  });
}

function countMessage(runs: readonly Run[], names: readonly string[], more: number): string {
  const lines = runs.map((run, at) => `${names[at]}: ${runLine(run)}`);
  const left = more === 0 ? [] : [`${more} more are in the log and in the report.`];
  return [...(lines.length === 0 ? ['No run was recorded.'] : lines), ...left].join('\n');
}

function commandLine(type: 'error' | 'warning' | 'notice', { title, message, file }: Note): string {
  const where = file === undefined ? '' : `file=${property(file)},`;
  return `::${type} ${where}title=${property(clipped(title, MOST_TITLE))}::${data(clipped(message, MOST_MESSAGE))}`;
}

/** What would end the line or be read as an escape. */
function data(text: string): string {
  return harmless(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** In a property also what would end it. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
