// The aligned token strip: one column per token; rows token, id, role, then the tracks of the finding. The first
// mismatch carries ▲ under it, the others △, so that an off-by-one is a shift that can be seen. Text only.
import type { Strip, StripToken } from '../../check/property.ts';
import type { Role } from '../../vocabulary.ts';
import type { Paint } from './paint.ts';
import { harmless, pad, shorten, visible, widthOf } from './visible.ts';

/**
 * Lines of at most `width` columns, wrapped into blocks of columns. Up to `whole` tokens are shown without a gap; of a
 * longer strip what is near its marks, or near the columns `look`.
 */
export function stripLines(
  strip: Strip,
  width: number,
  paint: Paint,
  whole = WHOLE_STRIP,
  look?: readonly number[],
): string[] {
  const facts = FACTS.filter((fact) => strip.tokens.some((token) => token[fact] !== undefined));
  const labels = [...facts.map((fact) => (fact === 'text' ? 'token' : fact)), ...strip.tracks.map(nameOf)];
  const header = `row ${strip.row}${facts.includes('id') ? '' : ', column'}`;
  const labelWidth = Math.max(header.length, ...labels.map(widthOf)) + GAP.length;
  const columns = shownColumns(strip, whole, look).map((at) => columnOf(strip, facts, at));
  return blocksOf(columns, width - labelWidth).flatMap((block, index) => [
    ...(index === 0 ? [] : ['']),
    paint.dim(line(pad(header, labelWidth), block, (column) => column.head)),
    ...labels.map((label, row) =>
      line(
        pad(label, labelWidth),
        block,
        (column) => column.cells[row] ?? '',
        (column, text) => (row < facts.length ? text : paintCell(column, label, text, paint)),
      ),
    ),
    ...markLine(block, labelWidth, paint),
  ]);
}

/** Space between two columns, and between the labels and the first. */
const GAP = '  ';
/** These stand above the tracks, as far as any token has them. */
export const FACTS = ['text', 'id', 'role'] as const;
export type Fact = (typeof FACTS)[number];
/** A cell wider than this is cut: one long token must not push the mismatch off the screen. `<|start_header_id|>` fits. */
const CELL_WIDTH = 20;
/** Strips of up to this many tokens are shown whole: about two blocks of a terminal. */
const WHOLE_STRIP = 24;
/** Otherwise: this many columns either side of the first few marks, and the ends. */
const CONTEXT = 6;
const MARKS_SHOWN = 4;
const ENDS = 2;

export const SHORT_ROLES: Readonly<Record<Role, string>> = {
  system: 'system',
  prompt: 'prompt',
  completion: 'compl.',
  tool: 'tool',
  stop: 'stop',
  'after stop': 'after',
  padding: 'pad',
};

/** Terminals that reorder what is written from the right would swap two neighbouring cells: the mark keeps them apart. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const LEFT_TO_RIGHT_MARK = '\u200e';

interface Column {
  readonly head: string;
  readonly cells: readonly string[];
  readonly width: number;
  readonly mark: '' | '▲' | '△';
}

/** A column number, or a run of columns left out. */
export type Place = number | { readonly skipped: number };

/** Those around the first marks and at the ends, with how many are left out between them; all of a short strip. */
export function shownColumns(
  strip: Strip,
  whole = WHOLE_STRIP,
  look: readonly number[] = strip.marks,
): Place[] {
  const { length } = strip.tokens;
  const near = look.slice(0, MARKS_SHOWN);
  const places: Place[] = [];
  let skipped = 0;
  for (let at = 0; at < length; at++) {
    const kept =
      length <= whole ||
      at < ENDS ||
      at >= length - ENDS ||
      near.some((mark) => Math.abs(mark - at) <= CONTEXT);
    if (!kept) {
      skipped++;
      continue;
    }
    if (skipped > 0) places.push({ skipped });
    skipped = 0;
    places.push(at);
  }
  return places;
}

const nameOf = ({ name }: Strip['tracks'][number]): string => name;

function factOf(token: StripToken | undefined, fact: Fact): string {
  if (token === undefined) return '';
  if (fact === 'role') return SHORT_ROLES[token.role];
  if (fact === 'id') return token.id === undefined ? '' : String(token.id);
  return token.text === undefined ? '' : visible(token.text);
}

function columnOf(strip: Strip, facts: readonly Fact[], place: Place): Column {
  if (typeof place !== 'number') {
    const head = `+${place.skipped}`;
    return { head, cells: [...facts, ...strip.tracks].map(() => '…'), width: head.length, mark: '' };
  }
  const token = strip.tokens[place];
  const cells = [
    ...facts.map((fact) => factOf(token, fact)),
    ...strip.tracks.map((track) => harmless(track.cells[place] ?? '').replaceAll('\n', '⏎')),
  ].map((cell) => shorten(cell, CELL_WIDTH));
  const width = Math.max(String(place).length, ...cells.map(widthOf));
  const order = strip.marks.indexOf(place);
  return { head: String(place), cells, width, mark: order === 0 ? '▲' : order > 0 ? '△' : '' };
}

/** As many columns a block as fit, and always one. */
function blocksOf(columns: readonly Column[], width: number): Column[][] {
  const blocks: Column[][] = [];
  let block: Column[] = [];
  let used = 0;
  for (const column of columns) {
    const more = column.width + (block.length === 0 ? 0 : GAP.length);
    if (block.length > 0 && used + more > width) {
      blocks.push(block);
      block = [];
      used = 0;
    }
    used += block.length === 0 ? column.width : more;
    block.push(column);
  }
  if (block.length > 0) blocks.push(block);
  return blocks;
}

function line(
  label: string,
  block: readonly Column[],
  cell: (column: Column) => string,
  paintOne: (column: Column, text: string) => string = (_, text) => text,
): string {
  const cells = block.map((column, at) => {
    const text = cell(column);
    // Colour goes around the text, not the padding; and the last column needs none.
    const padding = at === block.length - 1 ? 0 : column.width - widthOf(text);
    return (
      paintOne(column, text) + (RIGHT_TO_LEFT.test(text) ? LEFT_TO_RIGHT_MARK : '') + ' '.repeat(padding)
    );
  });
  return (label + cells.join(GAP)).trimEnd();
}

function paintCell(column: Column, label: string, text: string, paint: Paint): string {
  if (column.mark === '') return paint.dim(text);
  return paint.bold(label === 'expected' ? paint.blue(text) : paint.orange(text));
}

function markLine(block: readonly Column[], labelWidth: number, paint: Paint): string[] {
  if (block.every((column) => column.mark === '')) return [];
  const text = line(' '.repeat(labelWidth), block, (column) =>
    column.mark === '▲' ? column.mark.repeat(Math.min(column.width, 3)) : column.mark,
  );
  return [paint.orange(text)];
}
