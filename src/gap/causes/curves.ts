// Searches that the causes share: the best of a grid, by the sum of what is left.
import type { Tokens } from '../tokens.ts';

/** A parameter and the sum of |what is left| with it. */
export interface Best<T> {
  readonly value: T;
  readonly cost: number;
}

export function bestOf<T>(values: Iterable<T>, costOf: (value: T) => number): Best<T> | undefined {
  let best: Best<T> | undefined;
  for (const value of values) {
    const cost = costOf(value);
    if (Number.isFinite(cost) && (best === undefined || cost < best.cost)) best = { value, cost };
  }
  return best;
}

/** `count` values from `from` to `to`, each a factor apart. */
export function* factors(from: number, to: number, count: number): Generator<number> {
  for (let at = 0; at < count; at++) yield from * (to / from) ** (at / (count - 1));
}

export function* pairs<A, B>(first: Iterable<A>, second: readonly B[]): Generator<readonly [A, B]> {
  for (const a of first) for (const b of second) yield [a, b];
}

/** Every n-th, so that at most `most` are looked at in a search. */
export function thinned(places: Uint32Array, most = MOST_SEARCHED): Uint32Array {
  const step = Math.max(1, Math.ceil(places.length / most));
  return places.filter((_, at) => at % step === 0);
}
const MOST_SEARCHED = 2_000;

export function sumLeft(places: Uint32Array, left: (at: number) => number): number {
  let sum = 0;
  for (const at of places) sum += Math.abs(left(at));
  return sum;
}

export function median(values: ArrayLike<number>): number {
  return Float64Array.from(values).sort()[values.length >> 1] ?? Number.NaN;
}

/** A probability without the rounding that makes it 0 or 1. */
export const probability = (logprob: number): number => Math.min(1 - 1e-9, Math.exp(logprob));

export const samplingAt = ({ sampling }: Tokens, at: number): number => sampling[at] ?? 0;
export const trainerAt = ({ trainer }: Tokens, at: number): number => trainer[at] ?? 0;
export const rounded = (value: number): string => String(Number(value.toPrecision(2)));
