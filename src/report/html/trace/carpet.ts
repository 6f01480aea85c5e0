// The mask carpet: every row of a traced run as a line, every token as a few pixels in it, coloured by the weight with
// which it was trained. What is trained of a data set is seen at once, and so is the row that differs. It is drawn without
// script; a script (carpet.js) tells the token under the pointer, or under the arrow keys.
import type { Ledger } from '../../../trace/ledger.ts';
import { plural } from '../../text/plural.ts';
import { placeOf, realCount, type ShownRow, trainedCount, weightText } from '../../trace/rows.ts';
import { html, type Markup } from '../page/markup.ts';
import { columnsOf, type Frame, framesOf, type Look, looksOf, type Span } from './cells.ts';
import { type Names, namesOf, spelled } from './spelled.ts';

export interface CarpetOptions {
  readonly tokenizer: Ledger['tokenizer'];
  /** Several processes trained. */
  readonly several: boolean;
  /** The largest |weight| of the page. */
  readonly scale: number;
  /** Of a row that is shown token by token below: its id on the page. */
  readonly anchorOf: (shown: ShownRow) => string | undefined;
}

/** A section; nothing where there is no row. `rows` in the order in which they were trained. */
export function carpet(rows: readonly ShownRow[], options: CarpetOptions): Markup | undefined {
  const shown = bounded(rows);
  if (shown.length === 0) return undefined;
  const plan = planOf(shown, options.scale);
  const names = namesOf(
    shown.map(({ row }) => row),
    options.tokenizer,
  );
  const left = rows.length - shown.length;
  const label = `Mask carpet, ${plural(shown.length, 'row')} of up to ${plural(plan.columns, 'token')}. The arrow keys go from token to token, Enter goes to the row.`;
  return html`<section class="carpet-section" aria-labelledby="carpet"><h2 id="carpet">Mask carpet</h2>
<p>A line is a row, a cell a token, its colour the weight that it was trained with. Rows stand by step and micro-batch${options.several && ', rank by rank'}.${plan.width > WIDTH + 1 && ' It is wider than the page: scroll it sideways.'}</p>
${carpetLegend(options.scale)}
<div class="carpet" role="region" tabindex="0" aria-label="${label}" data-cell="${plan.cell}" data-names="${names.all.join('\n')}"><div>
<svg class="corner" width="${GUTTER}" height="${AXIS}" aria-hidden="true"><text x="${GUTTER - INSET}" y="13" text-anchor="end">${options.several ? 'rank:batch' : 'batch'}</text></svg>
${axis(plan)}
${gutter(plan, options.several)}
<svg class="cells" width="${plan.width}" height="${plan.height}" aria-hidden="true">
${LOOKS.map((look) => pathOf(look, plan.lines.map(({ looks, y }) => filled(looks, look, y, plan)).join('')))}
${FRAMES.map((frame) => pathOf(frame, plan.lines.map(({ frames, y }) => framed(frames, frame, y, plan)).join('')))}
${plan.lines.map((line) => hitArea(line, plan, names, options))}<path class="cursor" d="M0 0"/></svg></div></div>
<p class="carpet-now" role="status"></p>
${left > 0 && html`<p class="note">${plural(left, 'more row')} of this run ${left === 1 ? 'has' : 'have'} no room here.</p>`}</section>`;
}

// --- helpers ---

/** Pixels; what is wider is scrolled. */
const WIDTH = 1040;
const WIDEST_CELL = 14;
const GUTTER = 92;
const INSET = 10;
const AXIS = 20;
/** Between micro-batches, and between steps. */
const BATCH_GAP = 3;
const STEP_GAP = 9;
/** Of a line with its gap, where there are so many rows at most. */
const HEIGHTS: readonly (readonly [number, number])[] = [
  [24, 16],
  [60, 11],
  [160, 7],
];
const LEAST_HEIGHT = 4;
/** A carpet of more would make the page slow. */
const MOST_ROWS = 600;
const MOST_TOKENS = 100_000;
/** Height of a letter, and of labels that do not touch. */
const LETTER = 11;
/** Between two numbers of the axis, at least. */
const TICK_PIXELS = 56;
const LOOKS: readonly Look[] = ['u', 'z', 'q', 'p1', 'p2', 'p3', 'p4', 'p5', 'n1', 'n2', 'n3', 'n4', 'n5'];
const FRAMES: readonly Frame[] = ['miss', 'wrong'];

interface Line {
  readonly shown: ShownRow;
  readonly looks: readonly Span<Look>[];
  readonly frames: readonly Span<Frame>[];
  readonly y: number;
}

interface Plan {
  readonly lines: readonly Line[];
  readonly columns: number;
  /** Width of a token, and height of a row without the gap below it. */
  readonly cell: number;
  readonly tall: number;
  readonly width: number;
  readonly height: number;
}

function bounded(rows: readonly ShownRow[]): readonly ShownRow[] {
  let left = MOST_TOKENS;
  const shown: ShownRow[] = [];
  for (const each of rows.slice(0, MOST_ROWS)) {
    left -= columnsOf(each.row);
    if (left < 0 && shown.length > 0) break;
    shown.push(each);
  }
  return shown;
}

function planOf(rows: readonly ShownRow[], scale: number): Plan {
  const columns = Math.max(...rows.map(({ row }) => columnsOf(row)));
  const cell = Math.max(1, Math.min(WIDEST_CELL, Math.floor(WIDTH / columns)));
  const pitch = HEIGHTS.find(([most]) => rows.length <= most)?.[1] ?? LEAST_HEIGHT;
  let y = 0;
  const lines = rows.map((shown, at): Line => {
    const before = rows[at - 1]?.row;
    const { row } = shown;
    if (before !== undefined && before.step !== row.step) y += STEP_GAP;
    else if (before !== undefined && batchOf(before) !== batchOf(row)) y += BATCH_GAP;
    const line = { shown, looks: looksOf(row, scale), frames: framesOf(shown), y };
    y += pitch;
    return line;
  });
  return { lines, columns, cell, tall: pitch - 1, width: columns * cell + 1, height: y + 1 };
}

const batchOf = ({ step, rank, forward }: ShownRow['row']): string => `${step} ${rank} ${forward}`;

const pathOf = (name: string, d: string): Markup | false =>
  d !== '' &&
  html`<path class="${name}" d="${d}"/>
`;

function filled(spans: readonly Span<Look>[], look: Look, y: number, { cell, tall }: Plan): string {
  return spans
    .filter(({ kind }) => kind === look)
    .map(({ from, to }) => {
      const wide = (to - from) * cell;
      // Neither up nor down: half a line.
      const [top, high] = look === 'q' ? [y + Math.floor(tall / 4), Math.ceil(tall / 2)] : [y, tall];
      return `M${from * cell} ${top}h${wide}v${high}h-${wide}z`;
    })
    .join('');
}

function framed(spans: readonly Span<Frame>[], frame: Frame, y: number, { cell, tall }: Plan): string {
  return spans
    .filter(({ kind }) => kind === frame)
    .map(({ from, to }) => {
      const wide = Math.max(1, (to - from) * cell - 1);
      return `M${from * cell + 0.5} ${y + 0.5}h${wide}v${tall - 1}h-${wide}z`;
    })
    .join('');
}

/** The whole line under the pointer: a link to the row where it is shown, told by name without a script as well. */
function hitArea({ shown, y }: Line, plan: Plan, names: Names, options: CarpetOptions): Markup {
  const { row } = shown;
  const anchor = options.anchorOf(shown);
  const { tokens, weights, targets, expected } = spelled(row, names);
  const name = placeOf(row, options.several);
  const title = `${name}: ${plural(realCount(row), 'token')}, ${trainedCount(row).toLocaleString('en')} trained`;
  const inner = html`<title>${title}</title><rect x="0" y="${y}" width="${plan.width}" height="${plan.tall + 1}"/>`;
  const data = html`class="row" data-name="${name}" data-y="${y}" data-tokens="${tokens}"${weights !== '' && html` data-weights="${weights}"`}${targets !== '' && html` data-targets="${targets}"`} data-expected="${expected}"`;
  return anchor === undefined
    ? html`<g ${data}>${inner}</g>
`
    : html`<a href="#${anchor}" tabindex="-1" ${data}>${inner}</a>
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

/** Steps by name, micro-batches by a bracket and, where there is room, their number in the step. */
function gutter({ lines, tall, height }: Plan, several: boolean): Markup {
  const batches: { first: Line; last: Line; index: number }[] = [];
  for (const line of lines) {
    const last = batches.at(-1);
    const { row } = line.shown;
    if (last !== undefined && batchOf(last.first.shown.row) === batchOf(row)) last.last = line;
    else {
      const before = last?.first.shown.row;
      const same = before !== undefined && before.step === row.step && before.rank === row.rank;
      batches.push({ first: line, last: line, index: same ? (last?.index ?? 0) + 1 : 0 });
    }
  }
  let free = { step: 0, batch: 0 };
  let told = Number.NaN;
  return html`<svg class="gutter" width="${GUTTER}" height="${height}" aria-hidden="true">${batches.map(
    ({ first, last, index }) => {
      const { row } = first.shown;
      const top = first.y;
      const names = row.step !== told && top >= free.step;
      const numbers = top >= free.batch;
      free = { step: names ? top + LETTER : free.step, batch: numbers ? top + LETTER : free.batch };
      if (names) told = row.step;
      const base = top + Math.max(LETTER - 2, Math.min(LETTER, tall));
      return html`<path d="M${GUTTER - 2.5} ${top + 0.5}h-4v${last.y + tall - top - 1}h4"/>${names && html`<text x="0" y="${base}">step ${row.step}</text>`}${numbers && html`<text x="${GUTTER - INSET}" y="${base}" text-anchor="end">${several && `${row.rank}:`}${index}</text>`}`;
    },
  )}</svg>`;
}

function carpetLegend(scale: number): Markup {
  const swatch = (...names: readonly (Look | Frame)[]): Markup =>
    html`<svg class="cells swatch" width="${names.length * 14 + 1}" height="14" aria-hidden="true">${names.map(
      (name, at) =>
        name === 'wrong' || name === 'miss'
          ? html`<path class="${name === 'wrong' ? 'p5' : 'u'}" d="M${at * 14} 0h13v14h-13z"/><path class="${name}" d="M${at * 14 + 0.5} 0.5h12v13h-12z"/>`
          : html`<path class="${name}" d="M${at * 14} ${name === 'q' ? 4 : 0}h13v${name === 'q' ? 6 : 14}h-13z"/>`,
    )}</svg>`;
  const most = weightText(scale);
  return html`<ul class="carpet-legend"><li>${swatch('n5', 'n4', 'n3', 'n2', 'n1')} pushed down, from -${most}</li><li>${swatch('p1', 'p2', 'p3', 'p4', 'p5')} pushed up, to ${most}</li><li>${swatch('u')} no weight</li><li>${swatch('q')} trained, weight not known</li><li>${swatch('miss')} expected, and not trained</li><li>${swatch('wrong')} wrong</li><li>empty: padding</li></ul>`;
}
