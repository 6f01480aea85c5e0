// Two runs at one glance: modules by step, each cell how far they are apart there, in units of the rounding. A table, so that it
// is heard and read without colours: the number stands in the cell.
import { KINDS, type Kind, type Picture, type PictureRow } from '../../../twin/picture.ts';
import { MARGIN } from '../../../twin/rounding.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut } from '../page/text.ts';

/** The place where they part first. */
export interface First {
  readonly step: number;
  /** A row's name; undefined: none of them has it. */
  readonly name: string | undefined;
  readonly whole: boolean;
  readonly kind: Kind;
}

/** A scrolling region; nothing where nothing was compared. `of`: the change, for who hears the page. */
export function pictureTable(picture: Picture, of: string, first?: First): Markup | undefined {
  const steps = shownSteps(picture, first?.step);
  const { rows, depth } = shownRows(picture);
  const columns = steps.flatMap((at) =>
    KINDS.filter((kind) => rows.some(({ cells }) => cells[at]?.[kind] !== undefined)).map((kind) => ({
      at,
      kind,
    })),
  );
  if (columns.length === 0) return undefined;
  const named = steps.map((at) => ({
    step: picture.steps[at] ?? at,
    width: columns.filter((column) => column.at === at).length,
  }));
  const firstName =
    first?.name === undefined ? undefined : first.whole ? first.name : shortened(first.name, depth);
  const isFirst = (row: PictureRow, { at, kind }: (typeof columns)[number]): boolean =>
    first !== undefined &&
    picture.steps[at] === first.step &&
    kind === first.kind &&
    row.whole === first.whole &&
    row.name === firstName;
  const left = picture.steps.length - steps.length;
  return html`<div class="wide twin-picture" role="region" tabindex="0" aria-label="Differences by module and step: ${of}"><table><caption>How far the runs of ${of} are apart, in units of the rounding. More than ${MARGIN} is a difference.</caption>
<thead><tr><th scope="col" rowspan="2">Module</th>${named.map(({ step, width }) => html`<th scope="colgroup" colspan="${width}">step ${step}</th>`)}</tr>
<tr>${columns.map(({ kind }) => html`<th scope="col">${HEADS[kind]}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (row) => html`<tr${row.whole && html` class="whole"`}><th scope="row">${rowName(row)}</th>${columns.map(
    (column) => cell(row.cells[column.at]?.[column.kind], isFirst(row, column)),
  )}</tr>
`,
)}</tbody></table></div>
${depth !== undefined && html`<p class="note">Modules of more than ${plural(depth, 'level')} stand together, each with its largest difference.</p>`}${left > 0 && html`<p class="note">${plural(left, 'more step')} of these runs are not on the page.</p>`}`;
}

/** What the looks mean, once for all pictures. */
export function pictureLegend(): Markup {
  return html`<ul class="carpet-legend twin-legend"><li><i class="z">0</i> the same to the last bit</li><li><i class="d1">0.1</i> <i class="d2">1</i> <i class="d3">${MARGIN}</i> rounding</li><li><i class="o1">50</i> <i class="o2">500</i> <i class="o3">5e3</i> a difference: more than ${MARGIN} times the rounding</li><li><i class="o2 first">500</i> where the runs part first</li><li>empty: not compared</li></ul>
<p class="aside"><b>start</b>: weights before the first step; <b>output</b>: what the module returns; <b>backward</b>: the gradient at its output or input; <b>gradient</b>: that of its weights, as the optimiser gets it; <b>after</b>: its weights after the step.</p>`;
}

// --- helpers ---

/** More are not taken in at one glance, and a cell is about 40 bytes of a page of at most 4 MB. */
const MOST_ROWS = 160;
const MOST_STEPS = 12;
/** Steps before the one in question. */
const STEPS_BEFORE = 5;
const MOST_NAME = 80;

const HEADS: Readonly<Record<Kind, string>> = {
  start: 'start',
  output: 'output',
  backward: 'backward',
  gradient: 'gradient',
  after: 'after',
};

function shownSteps({ steps }: Picture, first: number | undefined): readonly number[] {
  const place = first === undefined ? 0 : Math.max(0, steps.indexOf(first) - STEPS_BEFORE);
  const from = Math.min(place, Math.max(0, steps.length - MOST_STEPS));
  return steps.map((_, at) => at).slice(from, from + MOST_STEPS);
}

/** With too many modules, those of the deepest levels stand together; `depth` undefined: none do. */
function shownRows({ rows }: Picture): {
  readonly rows: readonly PictureRow[];
  readonly depth: number | undefined;
} {
  if (rows.length <= MOST_ROWS) return { rows, depth: undefined };
  const deepest = Math.max(...rows.map(({ name, whole }) => (whole ? 1 : name.split('.').length)));
  for (let depth = deepest - 1; depth > 1; depth--) {
    const merged = mergedTo(rows, depth);
    if (merged.length <= MOST_ROWS) return { rows: merged, depth };
  }
  return { rows: mergedTo(rows, 1).slice(0, MOST_ROWS), depth: 1 };
}

function mergedTo(rows: readonly PictureRow[], depth: number): readonly PictureRow[] {
  const merged = new Map<string, PictureRow>();
  for (const row of rows) {
    const name = row.whole ? row.name : shortened(row.name, depth);
    const key = `${row.whole} ${name}`;
    const known = merged.get(key);
    merged.set(key, {
      ...row,
      name,
      cells: known === undefined ? row.cells : largest(known.cells, row.cells),
    });
  }
  return [...merged.values()];
}

function largest(a: PictureRow['cells'], b: PictureRow['cells']): PictureRow['cells'] {
  return a.map((cells, at) => {
    const other = b[at] ?? {};
    const out: Partial<Record<Kind, number>> = { ...cells };
    for (const kind of KINDS) {
      const value = other[kind];
      if (value !== undefined) out[kind] = Math.max(out[kind] ?? 0, value);
    }
    return out;
  });
}

const shortened = (name: string, depth: number | undefined): string =>
  depth === undefined ? name : name.split('.').slice(0, depth).join('.');

function rowName({ name, whole }: PictureRow): Markup | string {
  const shown = cut(name, MOST_NAME);
  if (whole) return shown;
  return name === '' ? 'the model' : html`<code>${shown}</code>${shown !== name && '…'}`;
}

function cell(value: number | undefined, first: boolean): Markup {
  if (value === undefined) return html`<td></td>`;
  return html`<td class="${lookOf(value)}${first && ' first'}">${numberText(value)}${first && html`<span class="sr-only"> the runs part here first</span>`}</td>`;
}

/** On a logarithmic scale, with the margin between blue and orange. */
function lookOf(value: number): string {
  if (value === 0) return 'z';
  if (value > MARGIN) return value > MARGIN * 100 ? 'o3' : value > MARGIN * 10 ? 'o2' : 'o1';
  return value > MARGIN / 10 ? 'd3' : value > MARGIN / 100 ? 'd2' : 'd1';
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'other';
  if (value === 0) return '0';
  if (value < 0.005) return '<0.01';
  if (value >= 1000) return value.toExponential(0).replace('+', '');
  return String(Number(value.toPrecision(value >= 100 ? 3 : 2)));
}
