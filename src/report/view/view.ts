// A data set's masks on a terminal: what was found, then rows as tokens flow, trained ones between ⟦ and ⟧ and in
// bold, so that nothing is lost without colour.
import type { Strip, StripToken } from '../../check/property.ts';
import type { SettingFault } from '../../view/config/fault.ts';
import { type Fault, isNote, textOf } from '../../view/flags.ts';
import type { Count, View, ViewedRow } from '../../view/scan.ts';
import { IGNORE_INDEX } from '../../vocabulary.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { stripLines } from '../text/strip.ts';
import { pad, shorten, visible, widthOf, wrap } from '../text/visible.ts';
import { flowLines, shortened } from './flow.ts';

export interface ViewPrint {
  readonly width: number;
  readonly paint: Paint;
  /** The file and the tokenizer, for the first line. */
  readonly of: readonly string[];
  /** The aligned strip below each row. */
  readonly strip: boolean;
  /** Every line of long turns. */
  readonly full: boolean;
}

/** The summary, and the rows that were kept. */
export function viewLines(view: View, print: ViewPrint): string[] {
  return [
    ...headLines(view, print),
    '',
    ...settingsOf(view).flatMap((fault) => settingLines(fault, print)),
    ...view.counts.flatMap((count) => countLines(count, print)),
    ...(view.counts.length + settingsOf(view).length === 0 ? [] : ['']),
    ...view.kept.flatMap((viewed) => [...rowLines(viewed, print), '']),
    ...wrap(verdictOf(view), print.width).map(print.paint.bold),
  ];
}

/** The answer in one sentence. */
export function verdictOf({ rows, flagged, counts, settings = [] }: View): string {
  const wrong = settings.filter(({ note }) => note !== true).length;
  const notes = counts.filter(({ id }) => isNote(id)).length + settings.length - wrong;
  const noted = notes === 0 ? '' : ` ${notes === 1 ? 'One thing is' : `${notes} things are`} worth a look.`;
  if (wrong > 0)
    return `✗ ${plural(wrong, 'setting')} of the configuration ${wrong === 1 ? 'is' : 'are'} flagged, and ${number(flagged)} of ${plural(rows, 'row')}.${noted}`;
  if (flagged === 0) return `✓ None of ${plural(rows, 'row')} is flagged.${noted}`;
  return `✗ ${number(flagged)} of ${plural(rows, 'row')} ${flagged === 1 ? 'is' : 'are'} flagged.${noted}`;
}

/** Those that fail first. */
export function settingsOf({ settings = [] }: View): readonly SettingFault[] {
  return settings.toSorted((left, right) => Number(left.note === true) - Number(right.note === true));
}

/** `max_lenght (line 3)`. */
export function placeOf({ key, line }: SettingFault): string {
  return line === undefined ? key : `${key} (line ${line})`;
}

/** `12,331 tokens, 5,402 trained (44%)`. */
export function sharesOf(tokens: number, trained: number): string {
  const share = tokens === 0 ? '' : ` (${Math.round((100 * trained) / tokens)}%)`;
  return `${plural(tokens, 'token')}, ${number(trained)} trained${share}`;
}

/** `trained: assistant 52 of 60, template 0 of 31, user 0 of 52`. */
export function rolesLine({ roles }: View): string {
  if (roles.length === 0) return '';
  const parts = roles.map(({ name, tokens, trained }) => `${name} ${number(trained)} of ${number(tokens)}`);
  return `trained: ${parts.join(', ')}`;
}

/** `row 17 (chosen)`. */
export function titleOf({ number: at, form }: ViewedRow): string {
  return form === 'chosen' || form === 'rejected' ? `row ${at} (${form})` : `row ${at}`;
}

/** The columns that a row's faults mean, those of flags first. */
export function marksOf(faults: readonly Fault[]): readonly number[] {
  const flags = faults.filter(({ id }) => !isNote(id));
  return [...new Set((flags.length > 0 ? flags : faults).flatMap(({ columns }) => columns))];
}

export function tokensOf({ row, texts }: ViewedRow): readonly StripToken[] {
  return (row?.ids ?? []).map((id, at) => ({
    id,
    text: texts?.[at] ?? String(id),
    role: row?.roles[at] ?? 'prompt',
  }));
}

export function stripOf(viewed: ViewedRow): Strip {
  const { row, number: at, faults } = viewed;
  const labels =
    row?.given?.labels ?? row?.ids.map((id, column) => (row.trained[column] ? id : IGNORE_INDEX));
  return {
    row: at,
    tokens: tokensOf(viewed),
    tracks: [
      { name: 'trained', cells: (row?.trained ?? []).map((each) => (each ? '1' : '·')) },
      { name: 'label', cells: (labels ?? []).map((label) => (label === IGNORE_INDEX ? '·' : String(label))) },
    ],
    marks: marksOf(faults),
  };
}

export function number(value: number): string {
  return value.toLocaleString('en');
}

// --- helpers ---

const INDENT = '  ';
/** Who asks for the strip wants to see it: this many tokens are about two screens. */
const STRIP_TOKENS = 160;
/** The name beside a turn. */
const NAME_WIDTH = 'assistant'.length;
/** A template's own role names are cut, so that the tokens keep their room. */
const LONGEST_NAME = 12;

const SAID: ReadonlySet<Count['id']> = new Set([
  'unread',
  'too-long',
  'refused',
  'unplaced',
  'lengths-differ',
  'unknown-role',
  'message-dropped',
  'token-without-id',
  'id-outside-embedding',
]);

function headLines(view: View, { width, paint, of }: ViewPrint): string[] {
  const facts = [...of, plural(view.rows, 'row'), sharesOf(view.tokens, view.trained)];
  return [
    ...wrap(visibleLine(facts.join(' · ')), width).map(paint.bold),
    ...wrap(visibleLine(rolesLine(view)), width - INDENT.length).map((line) => INDENT + line),
    ...view.assumed.flatMap((line) =>
      wrap(visibleLine(line), width - INDENT.length).map((part) => paint.dim(INDENT + part)),
    ),
  ];
}

function settingLines(fault: SettingFault, { width, paint }: ViewPrint): string[] {
  const note = fault.note === true;
  const lines = wrap(
    visibleLine(`${note ? '·' : '✗'} ${placeOf(fault)}: ${fault.sentence}`),
    width - INDENT.length,
  );
  return lines.map((line, at) => {
    const text = at === 0 ? line : INDENT + line;
    return note ? text : paint.orange(text);
  });
}

function countLines(count: Count, { width, paint }: ViewPrint): string[] {
  const note = isNote(count.id);
  const { what, todo } = textOf(count.id);
  const head = `${note ? '·' : '✗'} ${count.id}  ${plural(count.rows, 'row')}: ${count.first.join(', ')}${count.more ? ', ...' : ''}`;
  return [
    ...wrap(head, width).map(note ? paint.bold : (text) => paint.bold(paint.orange(text))),
    ...wrap(`${what} ${todo}`, width - INDENT.length).map((line) => INDENT + line),
    // Of a row that is not shown as tokens, this is all there is to see.
    ...(SAID.has(count.id)
      ? wrap(`row ${count.first[0]}: ${visibleLine(count.example)}`, width - INDENT.length).map((line) =>
          paint.dim(INDENT + line),
        )
      : []),
  ];
}

function rowLines(viewed: ViewedRow, print: ViewPrint): string[] {
  const { width, paint } = print;
  const { row, faults } = viewed;
  const shares = row === undefined ? [] : [sharesOf(row.ids.length, row.trained.filter(Boolean).length)];
  const form =
    viewed.form === undefined || viewed.form === 'chosen' || viewed.form === 'rejected' ? [] : [viewed.form];
  const head = [...form, ...shares].join(' · ');
  return [
    `${paint.bold(titleOf(viewed))}${head === '' ? '' : paint.dim(`  ${head}`)}`,
    ...faults.flatMap(({ id, sentence }) =>
      wrap(`${isNote(id) ? '·' : '✗'} ${id}: ${visibleLine(sentence)}`, width - INDENT.length).map((line) =>
        isNote(id) ? INDENT + line : paint.orange(INDENT + line),
      ),
    ),
    ...(row === undefined ? [] : turnLines(viewed, print)),
    ...(row === undefined || !print.strip
      ? []
      : [
          '',
          ...stripLines(stripOf(viewed), width, paint, print.full ? Number.POSITIVE_INFINITY : STRIP_TOKENS),
        ]),
  ];
}

/** What a data set says must not move the cursor. */
const visibleLine = (text: string): string =>
  text
    .split(' ')
    .map((word) => (word === '' ? '' : visible(word)))
    .join(' ');

function turnLines(viewed: ViewedRow, print: ViewPrint): string[] {
  const { row, faults } = viewed;
  if (row === undefined) return [];
  const tokens = tokensOf(viewed);
  const names = row.turns.map(({ name }) => shorten(visibleLine(name), LONGEST_NAME));
  const label = Math.max(NAME_WIDTH, ...names.map(widthOf)) + INDENT.length;
  const marks = marksOf(faults);
  return row.turns.flatMap(({ from, to }, at) => {
    const room = print.width - label - INDENT.length;
    const lines = flowLines({ tokens, trained: row.trained, marks, from, to }, room, print.paint);
    return shortened(lines, print.full).map(({ text, mark }, index) =>
      mark
        ? INDENT + ' '.repeat(label) + text
        : INDENT + print.paint.dim(pad(index === 0 ? (names[at] ?? '') : '', label)) + text,
    );
  });
}
