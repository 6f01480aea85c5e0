// Lengths around a limit with a buffer before it, for op `overlong_penalty`. Limits and buffers of 0 are among them.
import fc from 'fast-check';
import type { Ids } from '../../vocabulary.ts';
import { rarely } from '../rarely.ts';

export interface Overlong {
  readonly lengths: Ids;
  readonly max_length: number;
  readonly buffer: number;
}

const MAX_BUFFER = 6;
const MAX_OVER = 3;
const MAX_ROWS = 5;
/** In one case of so many all of it is so many times as much: lengths of tens of thousands, of which bfloat16 makes more than there are. */
const LARGE_ONE_IN = 4;
const LARGE = 4_089;

/** Arbitrary lengths before, in and beyond the buffer of a limit. */
export function overlong(): fc.Arbitrary<Overlong> {
  const positive = fc.integer({ min: 1, max: MAX_BUFFER });
  const buffer = fc.oneof({ weight: 3, arbitrary: positive }, { weight: 2, arbitrary: fc.constant(0) });
  return fc
    .record({
      buffer,
      before: fc.nat(MAX_BUFFER),
      // Where a length lies is what matters: before the buffer, in it, beyond the limit.
      offsets: fc.array(fc.integer({ min: -MAX_BUFFER, max: MAX_OVER }), {
        minLength: 1,
        maxLength: MAX_ROWS,
      }),
      large: rarely(LARGE_ONE_IN),
    })
    .map(({ buffer, before, offsets, large }) => {
      const times = large ? LARGE : 1;
      return {
        lengths: offsets.map((offset) => times * Math.max(0, buffer + before + offset)),
        max_length: times * (buffer + before),
        buffer: times * buffer,
      };
    });
}

/** Where the lengths lie. */
export function overlongLabels({ lengths, max_length: limit, buffer }: Overlong): string[] {
  const labels: string[] = [];
  if (buffer === 0) labels.push('no buffer');
  if (limit === 0) labels.push('limit 0');
  if (lengths.some((length) => length <= limit - buffer)) labels.push('free length');
  if (lengths.some((length) => length > limit - buffer && length <= limit))
    labels.push('length in the buffer');
  if (lengths.some((length) => length > limit)) labels.push('length beyond the limit');
  return labels;
}
