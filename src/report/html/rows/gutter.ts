// What stands at the left of a carpet: parts by name, groups by a bracket, labels where there is room, and a mark at every
// row in which something is wrong.
import { html, type Markup } from '../page/markup.ts';
import type { Band, CarpetRow, Line } from './lines.ts';

/** Right of the labels: room for a mark and a bracket. */
export const INSET = 16;

/** Wider where there are parts to name. */
export function gutterWidth(rows: readonly CarpetRow[]): number {
  return rows.some(({ place }) => place.part !== undefined) ? 94 : 60;
}

export function gutter(
  { lines, height }: Band,
  { tall, gutter: width }: { readonly tall: number; readonly gutter: number },
): Markup {
  const groups: { first: Line; last: Line }[] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    const { group } = line.row.place;
    if (last !== undefined && group !== undefined && last.first.row.place.group === group) last.last = line;
    else groups.push({ first: line, last: line });
  }
  let free = { part: 0, label: 0 };
  let told: string | undefined;
  const flags = lines.filter(({ row }) => row.flagged).map(({ y }) => flagAt(width - INSET + 3, y, tall));
  return html`<svg class="gutter" width="${width}" height="${height}" aria-hidden="true">${groups.map(
    ({ first, last }) => {
      const { part, group, label } = first.row.place;
      const top = first.y;
      const named = part !== undefined && part !== told && top >= free.part;
      const labelled = top >= free.label && top + LETTER <= height + 1;
      free = { part: named ? top + LETTER : free.part, label: labelled ? top + LETTER : free.label };
      if (named) told = part;
      const base = top + Math.max(LETTER - 2, Math.min(LETTER, tall));
      return html`${group !== undefined && html`<path d="M${width - 2.5} ${top + 0.5}h-3v${last.y + tall - top - 1}h3"/>`}${named && html`<text x="0" y="${base}">${part}</text>`}${labelled && html`<text x="${width - INSET}" y="${base}" text-anchor="end">${label}</text>`}`;
    },
  )}${flags.length > 0 && html`<path class="flag" d="${flags.join('')}"/>`}</svg>`;
}

/** Height of a letter, and of labels that do not touch. */
const LETTER = 11;

/** A triangle that points at the row; a bar where a line has no room for one. */
function flagAt(x: number, y: number, tall: number): string {
  if (tall < 6) return `M${x} ${y}h7v${Math.max(2, tall)}h-7z`;
  const middle = y + tall / 2;
  return `M${x} ${middle - 5}l7 5l-7 5z`;
}
