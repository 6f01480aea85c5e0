// One row of a traced run as a heat strip that wraps like text: a cell per token, and below each token three tracks: what
// the gradient pushes there, how strongly, and whether it should. Strength is height and colour; against a token, bars are
// striped. A run of padding is one hatched cell. Who hears the page is told run by run, and each mismatch by itself.
import { nameOf as spelled } from '../../../check/rows/strips.ts';
import type { Ledger, LedgerRow, Trained } from '../../../trace/ledger.ts';
import type { Role } from '../../../vocabulary.ts';
import { plural } from '../../text/plural.ts';
import { visible } from '../../text/visible.ts';
import { type ShownRow, weightText } from '../../trace/rows.ts';
import { BANDS } from '../failure/strip.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut, readable, tokenText } from '../page/text.ts';

export interface HeatOptions {
  readonly tokenizer: Ledger['tokenizer'];
  /** The largest |weight| of the page: the tallest bar. */
  readonly scale: number;
  /** What the strip is of, for who hears the page. */
  readonly label: string;
  /** Columns that are shown at most, from the first. */
  readonly most: number;
}

/** A scrolling region. */
export function heatStrip(shown: ShownRow, options: HeatOptions): Markup {
  const { row } = shown;
  const cells = cellsOf(shown, options.most);
  const left = row.ids.length - options.most;
  return html`<div class="heat" role="region" tabindex="0" aria-label="${options.label}"><span class="sr-only">${spoken(shown, options)}</span><div aria-hidden="true">${KEY}${cells.map((cell) => cellMarkup(cell, shown, options))}</div></div>
${left > 0 && html`<p class="note">${plural(left, 'more token')} of this row are not on the page.</p>`}`;
}

/** What the looks mean, once for all rows. */
export function heatLegend(scale: number): Markup {
  return html`<dl class="heat-legend">
<div><dt>target</dt><dd><b>=</b> the token itself, as it should be; another token is written out</dd></div>
<div><dt>weight</dt><dd><span class="heat"><i class="c"><b class="p5"></b></i></span> pushed up, at most ${weightText(scale)}; <span class="heat"><i class="c"><b class="n5"></b></i></span> striped: pushed down; <span class="heat"><i class="c"><b class="q"></b></i></span> trained, weight not measured</dd></div>
<div><dt>expected</dt><dd><span class="heat"><i class="c y"><bdi>a</bdi></i></span> a line: should be trained; <span class="heat"><i class="c e"><bdi>a</bdi></i></span> dots: either, or unknown; <span class="heat"><i class="c"><bdi>a</bdi></i></span> nothing: should not</dd></div>
<div><dt>wrong</dt><dd><span class="heat"><i class="c y wrong"><bdi>a</bdi></i></span> in a frame</dd></div>
</dl>`;
}

// --- helpers ---

/** Of a bar: more could not be told apart. */
const LEVELS = 5;
/** A shorter run of padding is shown pad by pad. */
const SHORT_PADDING = 3;
/** A longer run of which nothing is trained, a prompt of a thousand tokens, is shown by its ends. */
const LONG_RUN = 160;
const RUN_ENDS = 40;
/** What is read aloud of one run, and of how many mismatches. */
const SPOKEN_CHARACTERS = 200;
const SPOKEN_RUNS = 60;
const SPOKEN_MARKS = 20;
const TITLE_CHARACTERS = 200;

const KEY = html`<i class="key"><bdi>token</bdi><small>target</small><em>weight</em></i>`;

interface Cell {
  readonly at: number;
  /** Columns that it stands for: of padding, or of the middle of a long run of which nothing is trained. */
  readonly count: number;
}

function cellsOf({ row, marks }: ShownRow, shown: number): readonly Cell[] {
  const { ids, trained, spans } = row;
  const length = Math.min(shown, ids.length + (trained[ids.length] === undefined ? 0 : 1));
  const marked = new Set(marks);
  const plain = (at: number): boolean =>
    at < ids.length && trained[at] === undefined && spans.expected[at] !== true && !marked.has(at);
  const endOfRun = (from: number): number => {
    let to = from;
    while (to < length && plain(to) && spans.roles[to] === spans.roles[from]) to++;
    return to;
  };
  const cells: Cell[] = [];
  for (let at = 0; at < length; ) {
    const to = endOfRun(at);
    const ends = spans.roles[at] === 'padding' ? 0 : RUN_ENDS;
    const most = ends === 0 ? SHORT_PADDING : LONG_RUN;
    if (to - at <= most) {
      for (const end = Math.max(to, at + 1); at < end; at++) cells.push({ at, count: 1 });
      continue;
    }
    for (let left = 0; left < ends; left++) cells.push({ at: at++, count: 1 });
    cells.push({ at, count: to - ends - at });
    for (at = to - ends; at < to; at++) cells.push({ at, count: 1 });
  }
  return cells;
}

function cellMarkup({ at, count }: Cell, { row, marks }: ShownRow, options: HeatOptions): Markup {
  const { ids, spans, trained } = row;
  const role = spans.roles[at] ?? 'padding';
  if (count > 1) {
    const pads = role === 'padding';
    const what = pads ? 'padding' : `${role}, not trained`;
    return html`<i class="c ${pads ? 'pads' : 'fold'}" title="${`${at} to ${at + count - 1} · ${what}`}"><bdi>${`${pads ? '×' : '⋯ +'}${count.toLocaleString('en')}`}</bdi></i>`;
  }
  const classes = ['c', BANDS[role], expectedClass(row, at), ...(marks.includes(at) ? ['wrong'] : [])];
  const each = trained[at];
  if (each !== undefined) classes.push('t');
  const shown = at < ids.length ? tokenText(nameOf(ids[at] ?? 0, options)) : html`<bdi>(end)</bdi>`;
  return html`<i class="${classes.filter((name) => name !== '').join(' ')}" title="${titleOf(row, at, options)}">${shown}${
    each !== undefined &&
    html`<small>${targetText(each, ids[at], options)}</small>${bar(each, options.scale)}`
  }</i>`;
}

function expectedClass({ spans, real }: LedgerRow, at: number): string {
  if (real[at] !== true) return '';
  const expected = spans.expected[at];
  return expected === undefined ? 'e' : expected ? 'y' : '';
}

function targetText({ target }: Trained, id: number | undefined, options: HeatOptions): Markup {
  if (target === undefined) return html`?`;
  return target === id ? html`=` : tokenText(nameOf(target, options));
}

/** The square root, so that the weights of a long row beside a short one can still be seen. */
function bar({ weight }: Trained, scale: number): Markup {
  if (weight === undefined) return html`<b class="q"></b>`;
  if (!Number.isFinite(weight)) return html`<b class="n${LEVELS}"></b>`;
  const share = scale > 0 ? Math.sqrt(Math.min(1, Math.abs(weight) / scale)) : 0;
  const level = weight === 0 ? 0 : Math.max(1, Math.ceil(LEVELS * share));
  return html`<b class="${weight < 0 ? 'n' : 'p'}${level}"></b>`;
}

/** `7 · the · id 262 · completion · target: itself · weight 0.1111 · should be trained`. */
function titleOf(row: LedgerRow, at: number, options: HeatOptions): string {
  const { ids, spans } = row;
  const id = ids[at];
  const token = id === undefined ? ['after the end of the row'] : [shortName(id, options), `id ${id}`];
  const role: readonly Role[] = id === undefined ? [] : [spans.roles[at] ?? 'padding'];
  return [String(at), ...token, ...role, ...trainedWords(row, at, options), expectedWords(row, at)].join(
    ' · ',
  );
}

function trainedWords({ trained, ids }: LedgerRow, at: number, options: HeatOptions): string[] {
  const each = trained[at];
  if (each === undefined) return ['not trained'];
  const { target, weight } = each;
  const named =
    target === undefined
      ? 'not read off'
      : target === ids[at]
        ? 'itself'
        : `${shortName(target, options)}, id ${target}`;
  return [`target: ${named}`, `weight ${weight === undefined ? 'not measured' : weightText(weight)}`];
}

function expectedWords({ spans, real }: LedgerRow, at: number): string {
  if (real[at] !== true) return 'should not be trained';
  const expected = spans.expected[at];
  if (expected === undefined) return 'either is right, or unknown';
  return expected ? 'should be trained' : 'should not be trained';
}

/** Without a tokenizer, the id, as in every strip. */
function nameOf(id: number, { tokenizer }: HeatOptions): string {
  return spelled({ tokenizer, hello: {} }, id);
}

const shortName = (id: number, options: HeatOptions): string =>
  readable(visible(cut(nameOf(id, options), TITLE_CHARACTERS)));

/** Runs of one role that are trained or not, then what is wrong, token by token. */
function spoken({ row, marks }: ShownRow, options: HeatOptions): string {
  const { ids, spans, trained } = row;
  const runs: { from: number; to: number }[] = [];
  const same = (a: number, b: number): boolean =>
    spans.roles[a] === spans.roles[b] && (trained[a] === undefined) === (trained[b] === undefined);
  for (let at = 0; at < ids.length; at++) {
    const last = runs.at(-1);
    if (last !== undefined && same(last.from, at)) last.to = at + 1;
    else runs.push({ from: at, to: at + 1 });
  }
  const said = runs.slice(0, SPOKEN_RUNS).map(({ from, to }) => {
    const role = spans.roles[from] ?? 'padding';
    const head = `${role}, ${plural(to - from, 'token')}, ${trained[from] === undefined ? 'not trained' : 'trained'}`;
    if (role === 'padding') return `${head}. `;
    let text = '';
    for (let at = from; at < to && text.length <= SPOKEN_CHARACTERS; at++)
      text += `${nameOf(ids[at] ?? 0, options)}${options.tokenizer === undefined ? ' ' : ''}`;
    return `${head}: ${readable(cut(text, SPOKEN_CHARACTERS))}. `;
  });
  const wrong = marks.slice(0, SPOKEN_MARKS).map((at) => `Wrong: ${titleOf(row, at, options)}. `);
  const more = marks.length - wrong.length;
  return `${said.join('')}${wrong.join('')}${more > 0 ? `And ${more} more that are wrong.` : ''}`;
}
