// The search of causes that say how wide the gap is at a token, and nothing of its sign.
import { NO_FIT, widthsOf } from '../score.ts';
import { gapAt, type Tokens } from '../tokens.ts';
import { bestOf, thinned } from './curves.ts';

/** The widths that make the gaps likeliest, where any does; of noise alone each bucket keeps its own. */
export function bestWidth<T>(
  tokens: Tokens,
  places: Uint32Array,
  values: Iterable<T>,
  widthAt: (value: T) => (at: number) => number,
): T | undefined {
  const few = thinned(places);
  const noise = widthsOf(tokens, NO_FIT, few);
  return bestOf(values, (value) => costOf(tokens, few, noise, widthAt(value)))?.value;
}

/** Less the log-likelihood, with the noise scaled as well as can be. */
function costOf(
  tokens: Tokens,
  places: Uint32Array,
  noise: (at: number) => number,
  width: (at: number) => number,
): number {
  let [logs, sum] = [0, 0];
  for (const at of places) {
    logs += Math.log(width(at));
    sum += Math.abs(gapAt(tokens, at)) / noise(at) / width(at);
  }
  // Of a Laplace density whose scale is free.
  return logs + places.length * Math.log(sum);
}
