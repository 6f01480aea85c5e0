// What every rule about a row of tokens is made of.
import type { Fault } from '../flags.ts';
import type { Answer, TokenRow, ViewOptions } from '../row.ts';

export type Rule = (row: TokenRow, options: ViewOptions, say: (column: number) => string) => readonly Fault[];

/** Columns as a list: a row may have millions of them, and no call so many arguments. */
export const fault = (id: Fault['id'], sentence: string, columns: readonly number[] = []): Fault => ({
  id,
  sentence,
  columns: columns.length > MOST_COLUMNS ? columns.slice(0, MOST_COLUMNS) : columns,
});

/** That are marked: beyond so many nobody looks. */
const MOST_COLUMNS = 2 ** 16;

export function columnsWhere(row: TokenRow, holds: (column: number) => boolean): number[] {
  const columns: number[] = [];
  for (let column = 0; column < row.ids.length; column++) if (holds(column)) columns.push(column);
  return columns;
}

/** The words of an answer: without its stop token, and without what a generation prompt may have written. */
export function wordsOf({ from, to, stop }: Answer, row: TokenRow, options: ViewOptions): number[] {
  const columns: number[] = [];
  for (let at = from; at < (stop ?? to); at++)
    if (columns.length > 0 || isWord(row, options, at)) columns.push(at);
  return columns;
}

/** A header's white space, and marks like <think>, may belong to the generation prompt. */
export function isWord({ ids }: TokenRow, { tokenizer }: ViewOptions, at: number): boolean {
  const text = tokenizer?.decode([ids[at] ?? -1]) ?? '';
  return text.trim() !== '' && !/^<.*>$/u.test(text) && !tokenizer?.specialIds.has(ids[at] ?? -1);
}
