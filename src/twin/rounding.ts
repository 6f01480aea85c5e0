// What rounding explains of each number that is compared: one unit is what the same script shows with its weights moved by their
// rounding (lossproof_trace/twins/_noise.py), or the least that counts.
import type { StepDistance, TensorDistances } from './distance.ts';

/** Differences below so many units are rounding: another order of additions is another draw. */
export const MARGIN = 10;
/** And below this nothing is a difference: float32 has seven digits, and sums lose some. */
export const FLOOR = 1e-5;

/** Of one step, the size of a unit. */
export interface Units {
  readonly logprob: number;
  readonly weight: number;
  output(module: string): number;
  backward(place: string): number;
  gradient(tensor: string): number;
  after(tensor: string): number;
  /** Its gradient is no rounding alone, so that its update can be compared. */
  isStable(tensor: string): boolean;
}

export function unitsOf(noise: StepDistance): Units {
  const least = FLOOR / MARGIN;
  const most = (field: 'logprob' | 'weight'): number =>
    noise.tokens.reduce((top, each) => Math.max(top, each[field] ?? 0), least);
  const [gradients, after] = [noise.gradients, noise.after].map(medianOf) as [number, number];
  const backward = median([...noise.backward.values()]);
  return {
    logprob: most('logprob'),
    weight: most('weight'),
    output: (module) => Math.max(noise.outputs.get(module) ?? 0, least),
    backward: (place) => Math.max(noise.backward.get(place) ?? 0, backward, least),
    gradient: (tensor) => Math.max(noise.gradients.get(tensor)?.relative ?? 0, gradients, least),
    after: (tensor) => Math.max(noise.after.get(tensor)?.relative ?? 0, after, least),
    isStable: (tensor) => (noise.gradients.get(tensor)?.own ?? 0) < UNSTABLE,
  };
}

export const medianOf = (distances: TensorDistances): number =>
  median([...distances.values()].map(({ relative }) => relative));

// --- helpers ---

/** A tensor whose gradient is so much rounding gets an update of any sign from Adam. */
const UNSTABLE = 1e-2;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
