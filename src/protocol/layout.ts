// The only place that shifts an index: between token-aligned (B, T) inside the harness and the layout that the
// trainer declared in hello. It does not know what a track means.
import type { Layout, Matrix } from '../vocabulary.ts';
import type { Decoded } from './result.ts';

/**
 * A token-aligned (B, T) track in the trainer's layout.
 * token/row: (B, T) itself. predictor/row: (B, T-1), index t speaks of token t+1. completion: (B, T-P), the
 * columns from `promptWidth` = P on, whatever the alignment: a completion array has no leading column to shift into.
 */
export function encodeTrack(track: Matrix, promptWidth: number, layout: Layout): Matrix {
  if (layout.span === 'completion') return track.map((row) => row.slice(promptWidth));
  if (layout.alignment === 'predictor') return track.map((row) => row.slice(1));
  return track;
}

/**
 * A track in the trainer's layout as token-aligned (B, `width`). Positions that the trainer does not speak of
 * hold `fill`: column 0 under predictor alignment (no token predicts it), everything before the last C columns
 * under span completion, where index j speaks of token width-C+j. A predictor-aligned row of full width is taken
 * too: its last column predicts a token that is not in the row, and is dropped.
 */
export function decodeTrack(track: Matrix, width: number, layout: Layout, fill: number): Decoded<Matrix> {
  const columns = track[0]?.length ?? 0;
  if (track.length === 0) return { ok: track };
  if (layout.span === 'completion') {
    if (columns > width) {
      return {
        complaint: `has ${columns} column${columns === 1 ? '' : 's'}, the completion cannot be wider than its row of ${width}`,
      };
    }
    const before = Array<number>(width - columns).fill(fill);
    return { ok: track.map((row) => before.concat(row)) };
  }
  if (layout.alignment === 'predictor') {
    if (columns !== width - 1 && columns !== width) {
      return {
        complaint: `has ${columns} column${columns === 1 ? '' : 's'}, the row has ${width} tokens, so its predictor layout has ${width - 1}`,
      };
    }
    return { ok: track.map((row) => [fill, ...row.slice(0, width - 1)].slice(0, width)) };
  }
  if (columns !== width)
    return { complaint: `has ${columns} column${columns === 1 ? '' : 's'}, the row has ${width} tokens` };
  return { ok: track };
}
