// Which columns of a row are the example's own tokens. The attention mask says so; where the model was given none, a run
// of pad ids at either end is padding.
import type { Ids } from '../vocabulary.ts';

export interface SpecialIds {
  readonly pad: number | undefined;
  readonly eos: Ids;
  readonly bos: number | undefined;
}

export interface Given {
  /** (T,) */
  readonly ids: Ids;
  readonly attention: Ids | undefined;
  readonly positions: Ids | undefined;
}

/** (T,) */
export function realOf({ ids, attention, positions }: Given, special: SpecialIds): boolean[] {
  if (attention !== undefined) return attention.map((attended) => attended !== 0);
  const real = ids.map(() => true);
  const { pad, eos, bos } = special;
  if (pad === undefined) return real;
  const starts = startsOf(positions);
  let left = 0;
  while (left < ids.length && ids[left] === pad) left++;
  let right = ids.length;
  while (right > left && ids[right - 1] === pad) right--;
  if (starts > 1 && positions !== undefined) return packed(real, right, positions);
  if (left === ids.length) return ids.map(() => false);
  // Where pad and BOS are one id, the last of the run begins the example; where pad and EOS are, the first ends it.
  if (left > 0 && pad === bos) left--;
  if (right < ids.length && eos.includes(pad)) right++;
  return real.map((_, t) => t >= left && t < right);
}

/** Examples of a packed row, by the position ids that begin again. */
export function startsOf(positions: Ids | undefined): number {
  if (positions === undefined) return 1;
  let starts = 0;
  // Padding has equal positions, 0 or 1: it begins nothing.
  for (let t = 0; t < positions.length; t++) if (positions[t] === 0 && positions[t + 1] === 1) starts++;
  return Math.max(1, starts);
}

// --- helpers ---

/** Rows that were made longer than their examples have pads behind them whose positions do not count on. */
function packed(real: readonly boolean[], right: number, positions: Ids): boolean[] {
  return real.map((_, t) => t < right || positions[t] === (positions[t - 1] ?? -1) + 1);
}
