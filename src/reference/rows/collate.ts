// Batches out of rows of unequal length. Padding only: nothing is truncated and nothing is packed here.
// Which positions are real is recorded from where they were put, never from the ids: pad may equal eos.
import type { Ids, Matrix, PaddingSide, Ragged } from '../../vocabulary.ts';
import { at, misuse } from '../shape.ts';

export interface Padded {
  /** (B, T) */
  ids: number[][];
  /** (B, T), 1 = real token */
  attention_mask: number[][];
}

export interface Block {
  /** (B, P + C) */
  sequences: number[][];
  /** (B, P + C), 1 = real token */
  attention_mask: number[][];
  /** P: the completion block begins at this column in every row. */
  promptWidth: number;
}

/**
 * Rows padded to one width T, by default the longest row's. Labels are padded the same way with IGNORE_INDEX.
 * Throws `bad_argument` when `width` is less than the longest row: this function never truncates.
 */
export function padRows(
  rows: Ragged,
  options: { readonly side: PaddingSide; readonly pad: number; readonly width?: number },
): Padded {
  const width = options.width ?? longest(rows);
  if (width < longest(rows)) {
    throw misuse('bad_argument', `width ${width} is less than the longest row, ${longest(rows)} tokens`);
  }
  const fill = (row: Ids, token: (id: number) => number, pad: number): number[] => {
    const filled = new Array<number>(width).fill(pad);
    const start = options.side === 'left' ? width - row.length : 0;
    for (let index = 0; index < row.length; index++) filled[start + index] = token(at(row, index));
    return filled;
  };
  return {
    ids: rows.map((row) => fill(row, (id) => id, options.pad)),
    attention_mask: rows.map((row) => fill(row, () => 1, 0)),
  };
}

/**
 * The layout that decoder-only generation leaves behind, [left padding | prompt | completion | right padding]:
 * P = longest prompt + extraPrompt, C = longest completion + extraCompletion, both at least 1.
 * Every completion begins at column P, whatever its row's prompt length (bugs PAD-01, PAD-02, PAD-03).
 */
export function blockBatch(
  prompts: Ragged,
  completions: Ragged,
  pad: number,
  extra: { readonly extraPrompt?: number; readonly extraCompletion?: number } = {},
): Block {
  requirePairs(prompts, completions);
  const promptWidth = Math.max(1, longest(prompts) + (extra.extraPrompt ?? 0));
  const width = promptWidth + Math.max(1, longest(completions) + (extra.extraCompletion ?? 0));
  const sequences: number[][] = [];
  const attention: number[][] = [];
  for (let b = 0; b < prompts.length; b++) {
    const [prompt, completion] = [at(prompts, b), at(completions, b)];
    const start = promptWidth - prompt.length;
    const row = new Array<number>(width).fill(pad);
    const real = new Array<number>(width).fill(0);
    for (let t = 0; t < prompt.length; t++) row[start + t] = at(prompt, t);
    for (let t = 0; t < completion.length; t++) row[promptWidth + t] = at(completion, t);
    sequences.push(row);
    attention.push(real.fill(1, start, promptWidth + completion.length));
  }
  return { sequences, attention_mask: attention, promptWidth };
}

/** [prompt | completion | right padding], the layout of trainers that re-pad; `starts` is each completion's first column. */
export function flushLeftBatch(
  prompts: Ragged,
  completions: Ragged,
  pad: number,
): { sequences: number[][]; attention_mask: number[][]; starts: number[] } {
  const padded = padRows(joinColumns(prompts, completions), { side: 'right', pad });
  return {
    sequences: padded.ids,
    attention_mask: padded.attention_mask,
    starts: prompts.map((prompt) => prompt.length),
  };
}

/**
 * Position of each token among its row's real tokens, max(cumsum(attention) - 1, 0), (B, T); what transformers'
 * generation computes, so that a padded row scores as the unpadded one (bug PAD-05).
 */
export function positionIds(attention_mask: Matrix): number[][] {
  return attention_mask.map((row) => {
    let count = 0;
    return row.map((real) => {
      count += real;
      return Math.max(count - 1, 0);
    });
  });
}

function longest(rows: Ragged): number {
  return rows.reduce((most, row) => Math.max(most, row.length), 0);
}

function joinColumns(left: Ragged, right: Ragged): number[][] {
  requirePairs(left, right);
  return left.map((row, b) => [...row, ...at(right, b)]);
}

function requirePairs(prompts: Ragged, completions: Ragged): void {
  if (prompts.length !== completions.length) {
    throw misuse('bad_shape', `${prompts.length} prompts, but ${completions.length} completions`);
  }
}
