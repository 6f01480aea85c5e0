// The token strip as a table: one column per token, rows as in the terminal, roles as bands, the first mismatch in a
// heavy frame with ▲ under it and the others in a light one with △. It scrolls sideways under its own labels.
import type { Strip } from '../../../check/property.ts';
import { IGNORE_INDEX, type Role } from '../../../vocabulary.ts';
import { digits } from '../../text/numbers.ts';
import { FACTS, type Fact, type Place, SHORT_ROLES, shownColumns } from '../../text/strip.ts';
import { html, type Markup } from '../page/markup.ts';
import { readable, tokenText, tokenTitle } from '../page/text.ts';

export interface StripOptions {
  /** What the strip is of, for who hears the page: it should be said once on a page. Default: its row. */
  readonly label?: string;
  /** Where a picture of several rows leads to it. */
  readonly id?: string;
}

/** A scrolling region with one table. */
export function stripTable(strip: Strip, options: StripOptions = {}): Markup {
  const facts = FACTS.filter((fact) => strip.tokens.some((token) => token[fact] !== undefined));
  const columns = shownColumns(strip).map((place) => columnOf(strip, place));
  const tracks = tracksOf(strip);
  const head = `row ${strip.row}${facts.includes('id') ? '' : ', column'}`;
  const label = options.label ?? `Tokens of row ${strip.row}`;
  return html`<div class="${isWide(strip, columns) ? 'strip wide' : 'strip'}"${options.id !== undefined && html` id="${options.id}"`} role="region" tabindex="0" aria-label="${label}"><table>
<colgroup><col>${columns.map(({ band }) => html`<col class="${band}">`)}</colgroup>
<thead><tr><th scope="row">${head}</th>${columns.map(headCell)}</tr></thead>
<tbody>
${facts.map((fact) => row(fact, FACT_LABELS[fact], columns, (at) => factCell(strip, fact, at)))}
${tracks.map(({ name, kind, cells }) => row(kind, name, columns, (at) => ({ text: readable(cells[at] ?? '') })))}
${strip.marks.length > 0 && markRow(columns)}
</tbody></table></div>`;
}

/** The class of each role's band; the word itself stands in the role row. */
export const BANDS: Readonly<Record<Role, string>> = {
  system: 'b-system',
  prompt: 'b-prompt',
  completion: 'b-completion',
  tool: 'b-tool',
  stop: 'b-stop',
  'after stop': 'b-after',
  padding: 'b-padding',
};

const FACT_LABELS: Readonly<Record<Fact, string>> = { text: 'token', id: 'id', role: 'role' };
/** About what an A4 page takes of the strip's letters: a wider one is printed with its tokens below each other. */
const PAGE_CHARACTERS = 88;
/** Between two columns, in characters. */
const GAP = 2;

interface Column {
  /** Undefined: this many were left out. */
  readonly at: number | undefined;
  readonly head: string;
  readonly band: string;
  readonly mark: '' | 'first' | 'other';
}

interface Cell {
  readonly text: string;
  readonly content?: Markup;
  readonly title?: string | undefined;
}

function columnOf(strip: Strip, place: Place): Column {
  if (typeof place !== 'number')
    return { at: undefined, head: `+${place.skipped.toLocaleString('en')}`, band: 'gap', mark: '' };
  const order = strip.marks.indexOf(place);
  const role = strip.tokens[place]?.role ?? 'padding';
  return {
    at: place,
    head: String(place),
    band: BANDS[role],
    mark: order === 0 ? 'first' : order > 0 ? 'other' : '',
  };
}

interface Track {
  readonly name: string;
  readonly kind: string;
  readonly cells: readonly string[];
}

function tracksOf({ tracks, tokens }: Strip): readonly Track[] {
  const shown = tracks.map(
    ({ name, cells }): Track => ({
      name,
      kind: name === 'expected' || name === 'observed' ? `track ${name}` : 'track',
      cells,
    }),
  );
  const expected = tracks.find(({ name }) => name === 'expected')?.cells ?? [];
  const observed = tracks.find(({ name }) => name === 'observed')?.cells ?? [];
  const named = speakOfIds(expected, observed, tokens);
  const cells = expected.map((cell, at) => (named ? '' : differenceOf(cell, observed[at] ?? '')));
  const differs = cells.some((cell) => cell !== '');
  return differs ? [...shown, { name: 'difference', kind: 'track difference', cells }] : shown;
}

/** Ids are names: one less another says nothing. */
function speakOfIds(
  expected: readonly string[],
  observed: readonly string[],
  tokens: Strip['tokens'],
): boolean {
  const whole = [...expected, ...observed].every((cell) => Number.isInteger(numberOf(cell) ?? 0));
  return whole && expected.some((cell, at) => Number(cell) > 1 && cell === String(tokens[at]?.id));
}

/** Cells have five digits, so that more of their difference would be made up. */
const DIFFERENCE_DIGITS = 4;

function differenceOf(expected: string, observed: string): string {
  const [from, to] = [numberOf(expected), numberOf(observed)];
  if (from === undefined || to === undefined || Object.is(from, to)) return '';
  if (from === IGNORE_INDEX || to === IGNORE_INDEX) return '';
  const off = Number((to - from).toPrecision(DIFFERENCE_DIGITS));
  return off > 0 ? `+${digits(off)}` : digits(off);
}

function numberOf(cell: string): number | undefined {
  return /^(-?(\d|\.\d|Infinity)|NaN$)/.test(cell) ? Number(cell) : undefined;
}

function factCell(strip: Strip, fact: Fact, at: number): Cell {
  const token = strip.tokens[at];
  if (token === undefined) return { text: '' };
  if (fact === 'role') return { text: SHORT_ROLES[token.role] };
  if (fact === 'id') return { text: token.id === undefined ? '' : String(token.id) };
  if (token.text === undefined) return { text: '' };
  return { text: token.text, content: tokenText(token.text), title: tokenTitle(token.text) };
}

function headCell({ head, at, mark }: Column): Markup {
  const said = at === undefined && html`<span class="sr-only"> columns left out</span>`;
  return html`<th scope="col"${classOf(mark)}>${head}${said}</th>`;
}

function row(kind: string, label: string, columns: readonly Column[], cellOf: (at: number) => Cell): Markup {
  return html`<tr class="${kind}"><th scope="row">${label}</th>${columns.map(({ at, mark }) => {
    if (at === undefined) return html`<td class="gap">⋯</td>`;
    const { text, content, title } = cellOf(at);
    return html`<td${classOf(mark)}${title !== undefined && html` title="${title}"`}>${content ?? text}</td>`;
  })}</tr>
`;
}

function markRow(columns: readonly Column[]): Markup {
  return html`<tr class="marks"><th scope="row">mismatch</th>${columns.map(({ mark }) => {
    if (mark === '') return html`<td></td>`;
    const [glyph, said] = mark === 'first' ? ['▲', 'first mismatch'] : ['△', 'mismatch'];
    return html`<td class="${mark}"><span aria-hidden="true">${glyph}</span><span class="sr-only">${said}</span></td>`;
  })}</tr>`;
}

function classOf(mark: Column['mark']): Markup | false {
  return mark !== '' && html` class="${mark}"`;
}

function isWide(strip: Strip, columns: readonly Column[]): boolean {
  const widths = columns.map(({ at, head }) =>
    at === undefined
      ? head.length
      : Math.max(
          head.length,
          SHORT_ROLES[strip.tokens[at]?.role ?? 'padding'].length,
          strip.tokens[at]?.text?.length ?? 0,
          ...strip.tracks.map(({ cells }) => cells[at]?.length ?? 0),
        ),
  );
  return widths.reduce((sum, width) => sum + width + GAP, 0) > PAGE_CHARACTERS;
}
