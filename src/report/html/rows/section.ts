// A carpet as a part of a page: its heading, its legend, the line that tells a token, and the rows kept for the script.
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { bounded, carpetOf, isScrolled, topsOf } from './carpet.ts';
import { type KeptRow, keptData, pack } from './kept.ts';
import type { CarpetRow } from './lines.ts';

export interface CarpetSection {
  readonly rows: readonly { readonly drawn: CarpetRow; readonly kept: KeptRow }[];
  /** As it is seen, of a column of a row. */
  readonly nameOf: (row: KeptRow, at: number) => string;
  /** What a line and its colours mean, in a sentence or two. */
  readonly about: string;
  readonly legend: Markup;
  readonly corner: string;
  /** `this run`. */
  readonly whole: string;
}

export interface Carpet {
  readonly section: Markup;
  /** The rows, kept for the script: the end of the page is the place for it. Without it, the section is a picture. */
  readonly data: Markup;
}

/** Nothing where there is no row. */
export function carpetSection(section: CarpetSection): Carpet | undefined {
  const { rows, nameOf, about, legend, corner, whole } = section;
  if (rows.length === 0) return undefined;
  const drawn = bounded(rows.map((each) => each.drawn));
  const left = rows.length - drawn.length;
  return {
    section: html`<section class="carpet-section" aria-labelledby="carpet"><h2 id="carpet">Mask carpet</h2>
<p>${about}${isScrolled(drawn) && ' It is wider than the page: scroll it sideways.'}</p>
${legend}
${carpetOf(drawn, { corner, told: true })}
<p class="carpet-now" role="status"></p>
${left > 0 && html`<p class="note">${plural(left, 'more row')} of ${whole} ${left === 1 ? 'has' : 'have'} no room here.</p>`}</section>`,
    data: keptData(
      pack(
        rows.slice(0, drawn.length).map(({ kept }) => kept),
        topsOf(drawn),
        nameOf,
      ),
    ),
  };
}
