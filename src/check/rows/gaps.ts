// Rows with gaps laid out as a block batch (B, T), [left padding | prompt | completion | right padding]. Tokens that are
// not trained keep their numbers under a 0 of the mask; prompt and padding hold zeros.
import type { GapToken } from '../../generators/losses/gaps.ts';
import type { Matrix, Role } from '../../vocabulary.ts';

export interface LaidGaps<F extends string> {
  readonly completion_mask: Matrix;
  readonly prompt_width: number;
  /** (B, T) numbers of one field. */
  readonly track: (field: F, more?: { readonly behind?: number }) => Matrix;
  readonly roles: readonly (readonly Role[])[];
  /** Column of the last trained token of each row; undefined where none is. */
  readonly last: readonly (number | undefined)[];
}

/**
 * Lays drawn rows out as one block, (B, T), with the mask of what is trained; `track(field)` gives the numbers of a
 * field.
 */
export function layGaps<F extends string>({
  rows,
}: {
  readonly rows: readonly { readonly prompt: number; readonly tokens: readonly GapToken<F>[] }[];
}): LaidGaps<F> {
  const promptWidth = Math.max(...rows.map(({ prompt }) => prompt));
  const completionWidth = Math.max(1, ...rows.map(({ tokens }) => tokens.length));
  const columns = Array.from({ length: promptWidth + completionWidth }, (_, column) => column - promptWidth);
  const mask = rows.map(({ tokens }) => columns.map((at) => (tokens[at]?.trained === true ? 1 : 0)));
  const last = mask.map((row) => (row.includes(1) ? row.lastIndexOf(1) : undefined));
  return {
    completion_mask: mask,
    prompt_width: promptWidth,
    // The slot right behind the last trained token is spared: some trainers put the reward of the row there.
    track: (field, { behind = 0 } = {}) =>
      rows.map(({ tokens }, row) =>
        columns.map(
          (at, column) => tokens[at]?.[field] ?? (column > (last[row] ?? promptWidth - 1) + 1 ? behind : 0),
        ),
      ),
    roles: rows.map((row) =>
      columns.map((at): Role => {
        const token = row.tokens[at];
        if (token !== undefined) return token.trained ? 'completion' : 'tool';
        return at < 0 && at >= -row.prompt ? 'prompt' : 'padding';
      }),
    ),
    last,
  };
}
