// A mask carpet: rows by columns, every row a line, every token a few pixels in it, coloured by whether and how it is
// trained. What is trained is seen at once, and so is the row that differs. It is drawn without a script, in bands of
// some hundred rows, so that ten thousand open as fast as ten; a script (carpet.js) tells the token under the pointer, or
// under the arrow keys, where the rows are kept beside it (kept.ts).
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { gutter, gutterWidth, INSET } from './gutter.ts';
import type { Band, CarpetRow, Line } from './lines.ts';
import type { Frame, Look, Span } from './looks.ts';

export interface CarpetOptions {
  /** Above the labels at the left. */
  readonly corner: string;
  /** Of rows that are kept beside it. */
  readonly told?: boolean;
  /** On a page that has several, what this one is of. */
  readonly of?: string;
}

/** A carpet of all of `rows`, with its axis and its labels; `bounded` says how many there is room for. */
export function carpetOf(rows: readonly CarpetRow[], { corner, told = false, of }: CarpetOptions): Markup {
  const plan = planOf(rows);
  const keys = told ? ' The arrow keys go from token to token, Enter goes to the row.' : '';
  const label = `Mask carpet${of === undefined ? '' : ` of ${of}`}, ${plural(rows.length, 'row')} of up to ${plural(plan.columns, 'token')}.${keys}`;
  return html`<div class="carpet" role="region" tabindex="0" aria-label="${label}" data-cell="${plan.cell}" data-tall="${plan.tall}"><div>
<svg class="corner" width="${plan.gutter}" height="${AXIS}" aria-hidden="true"><text x="${plan.gutter - INSET}" y="13" text-anchor="end">${corner}</text></svg>
${axis(plan)}
${plan.bands.map(
  (
    band,
    at,
  ) => html`${gutter(band, plan)}<svg class="cells${plan.tall < FRAMED && ' fine'}" width="${plan.width}" height="${band.height}" data-from="${at * BAND}" aria-hidden="true">
${LOOKS.map((look) => pathOf(look, band.lines.map(({ row, y }) => filled(row.looks, look, y, plan)).join('')))}
${FRAMES.map((frame) => pathOf(frame, band.lines.map(({ row, y }) => framed(row.frames, frame, y, plan)).join('')))}
${rows.length <= MOST_LINKED && band.lines.map((line) => hitArea(line, plan))}</svg>
`,
)}</div></div>`;
}

/** Those that one carpet has room for, from the first. */
export function bounded(rows: readonly CarpetRow[]): readonly CarpetRow[] {
  let [tokens, spans] = [MOST_TOKENS, MOST_SPANS];
  const end = rows.slice(0, MOST_ROWS).findIndex((row) => {
    tokens -= row.columns;
    spans -= row.looks.length + row.frames.length;
    return tokens < 0 || spans < 0;
  });
  // One row of any length is drawn.
  return rows.slice(0, end < 0 ? MOST_ROWS : Math.max(1, end));
}

/** Whether the carpet is wider than what a page has room for. */
export function isScrolled(rows: readonly CarpetRow[]): boolean {
  const { columns, cell } = planOf(rows);
  return columns * cell > WIDTH;
}

/** Where each row lies within its band, for the script; `BAND` rows are one. */
export function topsOf(rows: readonly CarpetRow[]): readonly number[] {
  return planOf(rows).bands.flatMap(({ lines }) => lines.map(({ y }) => y));
}

/** How each look is drawn, for a legend. */
export function swatch(...names: readonly (Look | Frame)[]): Markup {
  return html`<svg class="cells swatch" width="${names.length * 14 + 1}" height="14" aria-hidden="true">${names.map(
    (name, at) => {
      const x = at * 14;
      if (name === 'wrong' || name === 'miss')
        return html`<path class="${name === 'wrong' ? 'p5' : 'u'}" d="M${x} 0h13v14h-13z"/><path class="${name}" d="M${x + 0.5} 0.5h12v13h-12z"/>`;
      const [top, high] = boxOf(name, 0, 14);
      return html`<path class="${name}" d="M${x} ${top}h13v${high}h-13z"/>`;
    },
  )}</svg>`;
}

// --- helpers ---

/** Pixels; what is wider is scrolled. */
const WIDTH = 1040;
const WIDEST_CELL = 14;
const AXIS = 20;
/** Between groups, and between parts. */
const GROUP_GAP = 3;
const PART_GAP = 9;
/** Of a line with its gap, where there are so many rows at most. */
const HEIGHTS: readonly (readonly [number, number])[] = [
  [24, 16],
  [60, 11],
  [160, 7],
  [1_000, 4],
];
/** Lines without a gap. */
const LEAST_HEIGHT = 2;
/** A lower line has no room for a frame: what is wrong is filled. */
const FRAMED = 6;
/** Rows of one drawing: what is far from the window is not painted. */
const BAND = 250;
/** Links and tool tips of the browser's own; of more rows the script alone knows where each leads. */
const MOST_LINKED = 600;
const MOST_ROWS = 10_000;
const MOST_TOKENS = 4_000_000;
/** Each is some 15 bytes. */
const MOST_SPANS = 150_000;
/** Between two numbers of the axis, at least. */
const TICK_PIXELS = 56;
const LOOKS: readonly Look[] = ['u', 'z', 'q', 'p1', 'p2', 'p3', 'p4', 'p5', 'n1', 'n2', 'n3', 'n4', 'n5'];
const FRAMES: readonly Frame[] = ['miss', 'wrong'];

interface Plan {
  readonly bands: readonly Band[];
  readonly columns: number;
  /** Width of a token, and height of a row without the gap below it. */
  readonly cell: number;
  readonly tall: number;
  readonly width: number;
  readonly gutter: number;
}

function planOf(rows: readonly CarpetRow[]): Plan {
  const columns = rows.reduce((most, row) => Math.max(most, row.columns), 1);
  // Quarters of a pixel: rows of six hundred tokens should fill the width as well.
  const cell = Math.max(1, Math.min(WIDEST_CELL, Math.floor((4 * WIDTH) / columns) / 4));
  const pitch = HEIGHTS.find(([most]) => rows.length <= most)?.[1] ?? LEAST_HEIGHT;
  const bands: Band[] = [];
  for (let from = 0; from < rows.length; from += BAND) {
    let y = 0;
    const lines = rows.slice(from, from + BAND).map((row, at): Line => {
      y += gapBefore(row, rows[from + at - 1]);
      const line = { row, y };
      y += pitch;
      return line;
    });
    const last = from + BAND >= rows.length;
    bands.push({ lines, height: last ? y + 1 : y });
  }
  return {
    bands,
    columns,
    cell,
    tall: pitch > LEAST_HEIGHT ? pitch - 1 : pitch,
    width: Math.ceil(columns * cell) + 1,
    gutter: gutterWidth(rows),
  };
}

function gapBefore({ place }: CarpetRow, before: CarpetRow | undefined): number {
  if (before === undefined) return 0;
  if (before.place.part !== place.part) return PART_GAP;
  return before.place.group === place.group ? 0 : GROUP_GAP;
}

const pathOf = (name: string, d: string): Markup | false =>
  d !== '' &&
  html`<path class="${name}" d="${d}"/>
`;

function filled(spans: readonly Span<Look>[], look: Look, y: number, { cell, tall }: Plan): string {
  let path = '';
  const [top, high] = boxOf(look, y, tall);
  for (const { kind, from, to } of spans) {
    if (kind !== look) continue;
    const wide = (to - from) * cell;
    path += `M${from * cell} ${top}h${wide}v${high}h-${wide}z`;
  }
  return path;
}

/** Not by its colour alone: what is pushed down lies low in its line, and what is neither up nor down in the middle. */
function boxOf(look: Look, y: number, tall: number): readonly [top: number, high: number] {
  if (look === 'q') return [y + Math.floor(tall / 4), Math.ceil(tall / 2)];
  if (!look.startsWith('n') || tall < FRAMED) return [y, tall];
  const above = Math.round(0.4 * tall);
  return [y + above, tall - above];
}

function framed(spans: readonly Span<Frame>[], frame: Frame, y: number, { cell, tall }: Plan): string {
  const [inset, least] = tall < FRAMED ? [0, LEAST_WRONG] : [0.5, 1];
  return spans
    .filter(({ kind }) => kind === frame)
    .map(({ from, to }) => {
      const wide = Math.max(least, (to - from) * cell - 2 * inset);
      return `M${from * cell + inset} ${y + inset}h${wide}v${tall - 2 * inset}h-${wide}z`;
    })
    .join('');
}

/** One wrong token of ten thousand rows must be seen. */
const LEAST_WRONG = 4;

/** The whole line under the pointer: a link to the row where it is shown, told by name without a script as well. */
function hitArea({ row, y }: Line, { width, tall }: Plan): Markup {
  const inner = html`<title>${row.name}: ${row.facts}</title><rect x="0" y="${y}" width="${width}" height="${tall + 1}"/>`;
  return row.anchor === undefined
    ? html`<g class="row">${inner}</g>
`
    : html`<a href="#${row.anchor}" class="row" tabindex="-1">${inner}</a>
`;
}

function axis({ columns, cell, width }: Plan): Markup {
  const step = niceStep(TICK_PIXELS / cell);
  const ticks = Array.from({ length: Math.ceil(columns / step) }, (_, at) => at * step);
  return html`<svg class="axis" width="${width}" height="${AXIS}" aria-hidden="true">${ticks.map((tick) => {
    const x = tick * cell + 0.5;
    const room = width - x > TICK_PIXELS / 2 || tick === 0;
    return html`<path d="M${x} ${AXIS - 5}v5"/>${room && html`<text x="${x + 3}" y="13">${tick}</text>`}`;
  })}</svg>`;
}

/** 1, 2 or 5 times a power of ten, `least` at least. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 1;
}
