// A finding of many rows as a small mask carpet above their strips: which rows are wrong, and where in them. Only where
// what the trainer said is a mask or labels: numbers are nothing that is trained or not.
import type { Strip } from '../../../check/property.ts';
import { IGNORE_INDEX } from '../../../vocabulary.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { carpetOf, swatch } from '../rows/carpet.ts';
import type { CarpetRow } from '../rows/lines.ts';
import { type Look, spansOf } from '../rows/looks.ts';

/** `anchorOf` row at: where its strip stands, if it stands on the page. */
export function rowsCarpet(
  strips: readonly Strip[],
  of: string,
  anchorOf: (at: number) => string | undefined,
): Markup | undefined {
  if (strips.length < LEAST_ROWS || !strips.every(isMask)) return undefined;
  const rows = strips.slice(0, MOST_ROWS).map((strip, at) => rowOf(strip, anchorOf(at)));
  return html`<figure class="rows-carpet">${carpetOf(rows, { corner: 'row', of })}
<figcaption><ul class="carpet-legend"><li>${swatch('p5')} trained, as the trainer has it</li><li>${swatch('u')} not trained</li><li>empty: padding</li><li>${swatch('wrong')} mismatch</li></ul></figcaption></figure>`;
}

// --- helpers ---

/** Fewer are taken in at once as they are. */
const LEAST_ROWS = 6;
const MOST_ROWS = 200;
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
