// A row as the spans are laid on it: its tokens in order without the padding, and an annotation that is filled in as they
// are recognised.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Ids, Role } from '../../vocabulary.ts';
import type { Origin, RowIds, Spans } from '../ledger.ts';

/**
 * The tokens of the example, then what stands behind them: a stop token that shares its id with the padding is
 * among those wherever padding is told by its id.
 */
export interface Walk {
  /** Column of each token. */
  readonly columns: readonly number[];
  readonly ids: Ids;
  /** So many in front are real. */
  readonly count: number;
  /** An attention mask says so; otherwise the id of the padding does. */
  readonly masked: boolean;
}

/** True, false, or undefined where either is right. */
export type Expected = boolean | undefined;

/** What is known of a stretch of tokens: one entry per token. */
export interface Stretch {
  readonly roles: readonly Role[];
  readonly expected: readonly Expected[];
  /** Within the stretch. */
  readonly completions: Spans['completions'];
}

export interface Annotation {
  readonly roles: Role[];
  readonly expected: Expected[];
  readonly completions: { from: number; to: number; stop?: number }[];
}

/**
 * `before`: so many columns before the first real one belong to the walk as well. `whole`: so does what the attention mask
 * hides between two real ones.
 */
export function walkOf({ ids, real, attention }: RowIds, before = 0, whole = false): Walk {
  const first = real.indexOf(true);
  const masked = attention !== undefined;
  if (first < 0) return { columns: [], ids: [], count: 0, masked };
  const last = real.lastIndexOf(true);
  const columns: number[] = [];
  for (let column = first - before; column < ids.length; column++)
    if (whole || column < first || column > last || real[column]) columns.push(column);
  const behind = ids.length - 1 - last;
  return { columns, ids: columns.map((column) => ids[column] ?? -1), count: columns.length - behind, masked };
}

/** A row of padding; what is real of it is of no known role yet. */
export function blankOf({ ids, real }: RowIds): Annotation {
  return {
    roles: ids.map((_, at): Role => (real[at] ? 'prompt' : 'padding')),
    expected: ids.map((_, at): Expected => (real[at] ? undefined : false)),
    completions: [],
  };
}

/** Tokens [from, to) of the walk are all the same. */
export function put(
  annotation: Annotation,
  { columns }: Walk,
  from: number,
  to: number,
  role: Role,
  expected: Expected,
): void {
  for (let at = from; at < to; at++) {
    const column = columns[at];
    if (column === undefined) return;
    annotation.roles[column] = role;
    annotation.expected[column] = expected;
  }
}

/** Tokens of the walk from `at` on are those of the stretch from `skipped` on; at most `length` of them. */
export function lay(
  annotation: Annotation,
  walk: Walk,
  at: number,
  stretch: Stretch,
  skipped = 0,
  length = stretch.roles.length - skipped,
): void {
  for (let index = 0; index < length; index++)
    put(
      annotation,
      walk,
      at + index,
      at + index + 1,
      stretch.roles[skipped + index] ?? 'prompt',
      stretch.expected[skipped + index],
    );
  for (const { from, to, stop } of stretch.completions) {
    const clip = (index: number): number => Math.max(0, Math.min(index - skipped, length));
    complete(
      annotation,
      walk,
      at + clip(from),
      at + clip(to),
      stop === undefined ? undefined : at + stop - skipped,
    );
  }
}

/** A completion of the tokens [from, to) of the walk, with its stop token where that is one of them. */
export function complete(
  annotation: Annotation,
  { columns }: Walk,
  from: number,
  to: number,
  stop?: number,
): void {
  const [first, last] = [columns[from], columns[to - 1]];
  if (to <= from || first === undefined || last === undefined) return;
  const column = stop === undefined || stop < from || stop >= to ? undefined : columns[stop];
  annotation.completions.push({
    from: first,
    to: last + 1,
    ...(column === undefined ? {} : { stop: column }),
  });
}

export function annotatedSpans(annotation: Annotation, origin: Origin): Spans {
  return {
    origin,
    roles: annotation.roles,
    expected: annotation.expected,
    completions: annotation.completions.sort((left, right) => left.from - right.from),
  };
}

/** The tokens [from, to) are padding that the attention mask does not know of: one id, to the end of the row. */
export function isPadding(
  { ids }: Walk,
  from: number,
  to: number,
  tokenizer: Tokenizer | undefined,
): boolean {
  const [first] = ids.slice(from, from + 1);
  if (first === undefined || first !== (tokenizer?.padTokenId ?? first)) return false;
  for (let at = from; at < to; at++) if (ids[at] !== first) return false;
  return true;
}

/** Length of the run of `id` that begins at a token. */
export function runOf({ ids }: Walk, at: number, id: number | undefined): number {
  let end = at;
  while (id !== undefined && ids[end] === id) end++;
  return end - at;
}
