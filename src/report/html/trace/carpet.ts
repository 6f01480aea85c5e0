// The mask carpet of a traced run: rows by step and micro-batch, tokens coloured by the weight with which they were trained.
import { nameOf } from '../../../check/rows/strips.ts';
import type { Ledger, LedgerRow } from '../../../trace/ledger.ts';
import { plural } from '../../text/plural.ts';
import { originOf, placeOf, realCount, type ShownRow, trainedCount, weightText } from '../../trace/rows.ts';
import { html, type Markup } from '../page/markup.ts';
import { swatch } from '../rows/carpet.ts';
import { type KeptRow, shownName } from '../rows/kept.ts';
import type { CarpetRow } from '../rows/lines.ts';
import { type Carpet, carpetSection } from '../rows/section.ts';
import { columnsOf, framesOf, looksOf } from './weights.ts';

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
export function carpet(rows: readonly ShownRow[], options: CarpetOptions): Carpet | undefined {
  const { several, scale, tokenizer } = options;
  const batches = batchesOf(rows, several);
  const names = new Map<number, string>();
  const named = (id: number): string => {
    const known = names.get(id) ?? shownName(nameOf({ tokenizer, hello: {} }, id));
    names.set(id, known);
    return known;
  };
  return carpetSection({
    rows: rows.map((shown, at) => ({
      drawn: drawnRow(shown, batches[at] ?? '', options),
      kept: keptRow(shown, several, named),
    })),
    nameOf: ({ ids }, at) => named(ids[at] ?? 0),
    about: `A line is a row, a cell per token, its colour the weight that it was trained with. Rows stand by step and micro-batch${several ? ', rank by rank' : ''}.`,
    legend: legend(scale),
    corner: several ? 'rank:batch' : 'batch',
    whole: 'this run',
  });
}

/** Where a row stands on the page, or is put when it is asked for. */
export const rowAnchor = ({ rank, forward, row }: LedgerRow): string => `row-${rank}-${forward}-${row}`;

/** `38 tokens, 12 trained · 2 tokens wrong · by the chat template's marks`. */
export function rowFacts({ row, marks }: ShownRow): string {
  return [
    `${plural(realCount(row), 'token')}, ${trainedCount(row).toLocaleString('en')} trained`,
    ...(marks.length > 0 ? [`${plural(marks.length, 'token')} wrong`] : []),
    ...(row.reached ? [] : ['no gradient came back']),
    originOf(row),
  ].join(' · ');
}

// --- helpers ---

/** The number of each row's micro-batch in its step, with its rank where there are several. */
function batchesOf(rows: readonly ShownRow[], several: boolean): readonly string[] {
  let [index, before]: [number, LedgerRow | undefined] = [0, undefined];
  return rows.map(({ row }) => {
    const same = before !== undefined && before.step === row.step && before.rank === row.rank;
    index = !same ? 0 : before?.forward === row.forward ? index : index + 1;
    before = row;
    return `${several ? `${row.rank}:` : ''}${index}`;
  });
}

function drawnRow(shown: ShownRow, label: string, { several, scale, anchorOf }: CarpetOptions): CarpetRow {
  const { row, marks } = shown;
  const anchor = anchorOf(shown);
  return {
    name: placeOf(row, several),
    facts: `${plural(realCount(row), 'token')}, ${trainedCount(row).toLocaleString('en')} trained`,
    columns: columnsOf(row),
    looks: looksOf(row, scale),
    frames: framesOf(shown),
    flagged: marks.length > 0,
    ...(anchor === undefined ? {} : { anchor }),
    place: { part: `step ${row.step}`, group: `${row.step} ${row.rank} ${row.forward}`, label },
  };
}

function keptRow(shown: ShownRow, several: boolean, named: (id: number) => string): KeptRow {
  const { row, marks } = shown;
  const { ids, spans, trained, step, rank } = row;
  const [real, count] = [realCount(row), trainedCount(row)];
  return {
    name: placeOf(row, several),
    anchor: rowAnchor(row),
    facts: rowFacts(shown),
    said: [],
    flagged: marks.length > 0,
    ids,
    columns: columnsOf(row),
    roleAt: (at) => spans.roles[at] ?? 'padding',
    trainedAt: (at) => trained[at] !== undefined && trained[at].weight !== 0,
    toldAt: (at) => `${trainedWords(row, at, named)} · ${expectedWords(row, at)}`,
    marks,
    fields: {
      is: [marks.length > 0 ? 'wrong' : 'right', count > 0 ? 'trained' : 'untrained'],
      step: [step],
      ...(several ? { rank: [rank] } : {}),
      tokens: [real],
      trained: [real === 0 ? 0 : Math.round((100 * count) / real)],
    },
  };
}

function trainedWords({ trained, ids }: LedgerRow, at: number, named: (id: number) => string): string {
  const each = trained[at];
  if (each === undefined) return 'not trained';
  const { target, weight } = each;
  const name = target === undefined ? 'not read off' : target === ids[at] ? 'itself' : named(target);
  return `target: ${name} · weight ${weight === undefined ? 'not known' : weightText(weight)}`;
}

function expectedWords({ spans, real }: LedgerRow, at: number): string {
  const expected = spans.expected[at];
  if (real[at] !== true) return 'should not be trained';
  if (expected === undefined) return 'either is right, or unknown';
  return expected ? 'should be trained' : 'should not be trained';
}

function legend(scale: number): Markup {
  const most = weightText(scale);
  return html`<ul class="carpet-legend"><li>${swatch('n5', 'n4', 'n3', 'n2', 'n1')} pushed down, from -${most}</li><li>${swatch('p1', 'p2', 'p3', 'p4', 'p5')} pushed up, to ${most}</li><li>${swatch('u')} no weight</li><li>${swatch('q')} trained, weight not known</li><li>${swatch('miss')} expected, and not trained</li><li>${swatch('wrong')} wrong</li><li>empty: padding</li></ul>`;
}
