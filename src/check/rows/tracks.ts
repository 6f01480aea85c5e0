// Per-token cases laid out as a block batch (B, T), [left padding | prompt | completion | right padding], with what
// each column is. `junk` is written wherever no loss may look.
import type { Tracks } from '../../generators/losses/tracks.ts';
import type { Ids, Matrix, Ragged, Role } from '../../vocabulary.ts';

export interface LaidTracks {
  readonly logprobs: Matrix;
  readonly old_logprobs: Matrix;
  readonly ref_logprobs: Matrix;
  readonly completion_mask: Matrix;
  readonly prompt_width: number;
  readonly advantages: readonly number[];
  readonly micro_batches: Ragged;
  readonly roles: readonly (readonly Role[])[];
  /** Columns stand for ids in strips. */
  readonly ids: readonly Ids[];
  readonly tokens: number;
}

export interface LayOptions {
  readonly extraPrompt?: number;
  readonly extraCompletion?: number;
  /** Written at every masked position; distinct per track so that their difference is large too. Default: 0. */
  readonly junk?: number;
  /** One micro-batch, whatever the rows say. */
  readonly whole?: boolean;
}

/**
 * Lays a per-token case out as the arguments of `kl` and `loss`: (B, T) matrices, with padding and junk as asked for.
 */
export function layTracks({ rows }: Tracks, options: LayOptions = {}): LaidTracks {
  const { junk = 0 } = options;
  const promptWidth = Math.max(...rows.map(({ prompt }) => prompt)) + (options.extraPrompt ?? 0);
  const completionWidth =
    Math.max(1, ...rows.map(({ tokens }) => tokens.length)) + (options.extraCompletion ?? 0);
  const columns = Array.from({ length: promptWidth + completionWidth }, (_, column) => column);
  const track = (
    value: (row: Tracks['rows'][number], token: number) => number | undefined,
    fill: number,
  ): number[][] => rows.map((row) => columns.map((column) => value(row, column - promptWidth) ?? fill));
  const parts = new Map<number, number[]>();
  for (const [at, { part }] of rows.entries()) parts.set(part, [...(parts.get(part) ?? []), at]);
  return {
    logprobs: track((row, token) => row.tokens[token]?.logprob, junk),
    old_logprobs: track((row, token) => row.tokens[token]?.old, -2 * junk),
    ref_logprobs: track((row, token) => row.tokens[token]?.ref, 3 * junk),
    completion_mask: track((row, token) => (row.tokens[token] === undefined ? undefined : 1), 0),
    prompt_width: promptWidth,
    advantages: rows.map(({ advantage }) => advantage),
    micro_batches: options.whole ? [rows.map((_, at) => at)] : [...parts.values()],
    roles: rows.map((row) =>
      columns.map((column): Role => {
        if (column >= promptWidth)
          return row.tokens[column - promptWidth] === undefined ? 'padding' : 'completion';
        return column >= promptWidth - row.prompt ? 'prompt' : 'padding';
      }),
    ),
    ids: rows.map(() => columns),
    tokens: rows.reduce((sum, { tokens }) => sum + tokens.length, 0),
  };
}

/** Mean of `values` where `mask` is 1; NaN where nothing is. */
export function maskedMean(values: Matrix, mask: Matrix): number {
  let [sum, count] = [0, 0];
  for (const [row, kept] of mask.entries()) {
    for (const [column, keep] of kept.entries()) {
      if (keep !== 1) continue;
      sum += values[row]?.[column] ?? Number.NaN;
      count++;
    }
  }
  return sum / count;
}
