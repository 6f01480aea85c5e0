// Rows kept beside their carpet, compressed, for the scripts (packed.js reads them): they tell each token from them, find words in them, and make
// a row that the page has no room for when somebody asks for it. Ten thousand rows are a few megabytes and one element.
import { gzipSync } from 'node:zlib';
import type { Role } from '../../../vocabulary.ts';
import { visible } from '../../text/visible.ts';
import { BANDS } from '../failure/strip.ts';
import { html, type Markup, raw } from '../page/markup.ts';
import { cut, readable } from '../page/text.ts';
import { spansOf } from './looks.ts';

/** One row of tokens as any page has it. */
export interface KeptRow {
  readonly name: string;
  /** Its id where it stands on the page, or where it is put. */
  readonly anchor: string;
  readonly facts: string;
  /** What was found in it: `✗ no-stop`, then the sentence. */
  readonly said: readonly (readonly [string, string])[];
  readonly flagged: boolean;
  readonly ids: readonly (number | undefined)[];
  readonly columns: number;
  readonly roleAt: (at: number) => Role;
  readonly trainedAt: (at: number) => boolean;
  /** What is told of a token beside its name: `target: itself · weight 0.02`. */
  readonly toldAt: (at: number) => string;
  readonly marks: readonly number[];
  /** What a filter asks for by name: `{ step: ['0'], tokens: [412] }`. */
  readonly fields: Readonly<Record<string, readonly (string | number)[]>>;
}

/** As `kept.js` reads it. */
export interface Packed {
  readonly names: readonly string[];
  readonly ids: readonly (number | null)[];
  readonly phrases: readonly string[];
  readonly roles: readonly (readonly [string, string])[];
  readonly rows: readonly PackedRow[];
}

export interface PackedRow {
  readonly name: string;
  readonly anchor: string;
  readonly facts: string;
  readonly said: readonly (readonly [string, string])[];
  readonly flagged: boolean;
  readonly fields: KeptRow['fields'];
  readonly columns: number;
  /** Places in `names`. */
  readonly tokens: string;
  /** `end phrase end phrase`, and `end role trained`. */
  readonly told: string;
  readonly runs: string;
  readonly marks: string;
  readonly top: number;
}

/** @param nameOf the text of a token, as it is seen */
export function pack(
  rows: readonly KeptRow[],
  tops: readonly number[],
  nameOf: (row: KeptRow, at: number) => string,
): Packed {
  const names = numbered<string>();
  const ids: (number | null)[] = [];
  const latest = new Map<number | undefined, { readonly shown: string; readonly place: number }>();
  const phrases = numbered<string>();
  const roles = numbered<Role>();
  const packed = rows.map((row, index): PackedRow => {
    const { name, anchor, facts, said, flagged, fields, columns } = row;
    const tokens = row.ids.map((id, at) => {
      const shown = nameOf(row, at);
      // Millions of tokens are few different ones.
      const before = latest.get(id);
      if (before?.shown === shown) return before.place;
      const place = names.of(`${id} ${shown}`);
      ids[place] = id ?? null;
      latest.set(id, { shown, place });
      return place;
    });
    const told = spansOf(columns, (at) => phrases.of(row.toldAt(at)));
    const runs = spansOf(columns, (at) => 2 * roles.of(row.roleAt(at)) + Number(row.trainedAt(at)));
    return {
      name,
      anchor,
      facts,
      said,
      flagged,
      fields,
      columns,
      tokens: tokens.join(' '),
      told: told.map(({ kind, to }) => `${to} ${kind}`).join(' '),
      runs: runs.map(({ kind, to }) => `${to} ${kind >> 1} ${kind & 1}`).join(' '),
      marks: row.marks.join(' '),
      top: tops[index] ?? 0,
    };
  });
  return {
    names: names.all().map((name) => name.slice(name.indexOf(' ') + 1)),
    ids,
    phrases: phrases.all(),
    roles: roles.all().map((role) => [role, BANDS[role]]),
    rows: packed,
  };
}

/** No script, though it stands in its tags: a browser runs none of this type, and shows none of it. */
export function keptData(packed: Packed): Markup {
  return html`<script type="text/plain" class="kept">${raw(packedText(packed))}</script>`;
}

/** As it stands in an attribute, too. */
export function packedText(packed: Packed): string {
  return gzipSync(JSON.stringify(packed)).toString('base64');
}

/** A token's name as all pages write it: nothing in it acts, on one line, and not longer than what one reads. */
export function shownName(text: string): string {
  return readable(visible(cut(text, MOST_CHARACTERS))).replaceAll('\n', ' ');
}

// --- helpers ---

const MOST_CHARACTERS = 40;

function numbered<T>(): { of(value: T): number; all(): readonly T[] } {
  const places = new Map<T, number>();
  return {
    of(value) {
      const known = places.get(value);
      if (known !== undefined) return known;
      places.set(value, places.size);
      return places.size - 1;
    },
    all: () => [...places.keys()],
  };
}
