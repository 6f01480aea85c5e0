// Token strips for findings: which text a token has, what it is in its row, and the tracks beside it.

import { tokenText } from '../../tokenizers/text.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Role, Tokens } from '../../vocabulary.ts';
import type { Strip } from '../property.ts';

/** What tells the text of an id: a `World` does, and whoever has no trainer to ask makes one of a tokenizer. */
export interface Speller {
  readonly tokenizer: Tokenizer | undefined;
  readonly hello: { readonly tokens?: Tokens };
}

export interface StripSketch {
  readonly row: number;
  readonly ids: readonly number[];
  readonly roles: readonly Role[];
  readonly tracks: Readonly<Record<string, readonly (number | string | undefined)[]>>;
  readonly marks: readonly number[];
  /**
   * What of a token is real. `ids`: they index the logits handed over, and no text belongs to them. `columns`: the
   * tracks are all there is. Default `tokens`.
   */
  readonly shown?: 'tokens' | 'ids' | 'columns';
}

/** How the token with this id is shown: its text where a tokenizer is known, its id otherwise. */
export function nameOf(world: Speller, id: number): string {
  const { tokenizer, hello } = world;
  if (tokenizer !== undefined && (hello.tokens === undefined || id < hello.tokens.vocab_size))
    return tokenText(tokenizer, id);
  return `t${id}`;
}

/** "Token 7 '␠the' (id 262)". */
export function tokenAt(world: Speller, ids: readonly number[], column: number): string {
  const id = ids[column] ?? -1;
  const name = nameOf(world, id);
  return name === `t${id}` ? `Token ${column} (id ${id})` : `Token ${column} '${name}' (id ${id})`;
}

/**
 * A token strip for a finding: the text of each token where a tokenizer is known, its role, and the tracks as cells.
 */
export function stripOf(world: Speller, sketch: StripSketch): Strip {
  const { shown = 'tokens' } = sketch;
  return {
    row: sketch.row,
    tokens: sketch.ids.slice(0, MOST_COLUMNS).map((id, column) => ({
      ...(shown === 'columns' ? {} : { id }),
      ...(shown === 'tokens' ? { text: nameOf(world, id) } : {}),
      role: sketch.roles[column] ?? 'padding',
    })),
    tracks: Object.entries(sketch.tracks).map(([name, cells]) => ({
      name,
      cells: cells.slice(0, MOST_COLUMNS).map(cellText),
    })),
    marks: sketch.marks.filter((column) => column < MOST_COLUMNS),
  };
}

/** Longer than any row that a generator draws. The rows of an answer may be much longer, and each column is an object. */
const MOST_COLUMNS = 2 ** 14;

function cellText(cell: number | string | undefined): string {
  if (cell === undefined) return '·';
  if (typeof cell === 'string') return cell;
  return Number.isInteger(cell) || !Number.isFinite(cell)
    ? String(cell)
    : String(Number(cell.toPrecision(5)));
}
