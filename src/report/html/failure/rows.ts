// A finding of many rows as a small mask carpet above their strips: which rows are wrong, and where in them. Only where
// what the trainer said is a mask or labels: numbers are nothing that is trained or not. What each token is, a script tells
// from what is kept in the figure.
import type { Strip } from '../../../check/property.ts';
import { IGNORE_INDEX } from '../../../vocabulary.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { readable } from '../page/text.ts';
import { carpetOf, swatch, topsOf } from '../rows/carpet.ts';
import { type KeptRow, pack, packedText, shownName } from '../rows/kept.ts';
import type { CarpetRow } from '../rows/lines.ts';
import { type Look, spansOf } from '../rows/looks.ts';

/** `anchorOf` row at: where its strip stands, if it stands on the page. */
export function rowsCarpet(
  strips: readonly Strip[],
  of: string,
  anchorOf: (at: number) => string | undefined,
): Markup | undefined {
  if (strips.length < LEAST_ROWS || !strips.every(isMask)) return undefined;
  const shown = strips.slice(0, MOST_ROWS);
  const rows = shown.map((strip, at) => rowOf(strip, anchorOf(at)));
  const text = keptText(shown, rows);
  return html`<figure class="rows-carpet"${text !== undefined && html` data-kept="${text}"`}><figcaption><ul class="carpet-legend"><li>${swatch('p5')} trained, as the trainer has it</li><li>${swatch('u')} not trained</li><li>empty: padding</li><li>${swatch('wrong')} mismatch</li></ul></figcaption>
${carpetOf(rows, { corner: 'row', of })}
${text !== undefined && html`<p class="carpet-now" role="status"></p>`}</figure>`;
}

// --- helpers ---

/** Fewer are taken in at once as they are. */
const LEAST_ROWS = 6;
const MOST_ROWS = 200;
/** Of more, rows are told by the browser, and no token: they would be most of the page. */
const MOST_TOLD = 100_000;
const UNTRAINED: ReadonlySet<string> = new Set(['0', '·', '', 'false', String(IGNORE_INDEX)]);

const observedOf = ({ tracks }: Strip): readonly string[] =>
  (tracks.find(({ name }) => name === 'observed') ?? tracks.find(({ name }) => name === 'trained'))?.cells ??
  [];

/** Whole numbers without a minus but for the index that is ignored: a mask, or labels. */
function isMask(strip: Strip): boolean {
  const cells = observedOf(strip);
  return cells.length > 0 && cells.every((cell) => UNTRAINED.has(cell) || /^(?:\d+|true)$/.test(cell));
}

function rowOf(strip: Strip, anchor: string | undefined): CarpetRow {
  const { tokens, marks, row } = strip;
  const cells = observedOf(strip);
  const wrong = new Set(marks);
  const lookAt = (at: number): Look | undefined => {
    if (!UNTRAINED.has(cells[at] ?? '')) return 'p5';
    return tokens[at]?.role === 'padding' ? undefined : 'u';
  };
  const trained = cells.filter((cell) => !UNTRAINED.has(cell)).length;
  return {
    name: `row ${row}`,
    facts: `${plural(tokens.length, 'token')}, ${trained} trained${marks.length > 0 ? `, ${plural(marks.length, 'mismatch', 'mismatches')}` : ''}`,
    columns: tokens.length,
    looks: spansOf(tokens.length, lookAt),
    frames: spansOf(tokens.length, (at) => (wrong.has(at) ? 'wrong' : undefined)),
    flagged: marks.length > 0,
    ...(anchor === undefined ? {} : { anchor }),
    place: { label: String(row) },
  };
}

function keptText(strips: readonly Strip[], rows: readonly CarpetRow[]): string | undefined {
  if (rows.reduce((sum, { columns }) => sum + columns, 0) > MOST_TOLD) return undefined;
  const kept = new Map(strips.map((strip, at) => [keptRow(strip, rows[at]), strip]));
  return packedText(pack([...kept.keys()], topsOf(rows), (row, at) => nameOf(kept.get(row), at)));
}

/** A token without a text is told by its id, and one without either by its place alone. */
function nameOf(strip: Strip | undefined, at: number): string {
  const { text, id } = strip?.tokens[at] ?? {};
  return text === undefined ? String(id ?? '·') : shownName(text);
}

function keptRow(strip: Strip, drawn: CarpetRow | undefined): KeptRow {
  const { tokens, tracks, marks } = strip;
  const cells = observedOf(strip);
  const wrong = new Set(marks);
  const roleAt: KeptRow['roleAt'] = (at) => tokens[at]?.role ?? 'padding';
  return {
    name: drawn?.name ?? '',
    anchor: drawn?.anchor ?? '',
    facts: drawn?.facts ?? '',
    said: [],
    flagged: marks.length > 0,
    ids: tokens.map(({ id }) => id),
    columns: tokens.length,
    roleAt,
    trainedAt: (at) => !UNTRAINED.has(cells[at] ?? ''),
    toldAt: (at) =>
      [
        roleAt(at),
        ...tracks.map((track) => `${track.name} ${readable(track.cells[at] ?? '')}`),
        ...(wrong.has(at) ? ['mismatch'] : []),
      ].join(' · '),
    marks,
    fields: {},
  };
}
