// How far a change of precision takes two runs apart, in the first step: a size, and no failure. What only one of them has of NaN
// or infinity is a difference.
import { distancesOf, type StepDistance, type TensorDistances } from './distance.ts';
import type { TwinRun, TwinStep } from './run.ts';
import type { Outcome } from './verdict.ts';

/** Of a change that moves all numbers, by what the first step shows. */
export function sizeOutcome(
  first: TwinRun,
  second: TwinRun,
  noise: readonly StepDistance[],
  precisions: readonly [first: string, second: string],
): Outcome {
  const [distance] = distancesOf(first, second);
  const steps = [first.steps[0], second.steps[0]] as const;
  if (distance === undefined || steps[0] === undefined || steps[1] === undefined)
    return { kind: 'untold', why: 'no optimiser step of a language model was made in both runs' };
  // Rows of NaN are rows that train nothing.
  const [alone, other] = [brokenIn(steps[1], steps[0]), brokenIn(steps[0], steps[1])];
  const step = distance.step;
  if (alone.length > 0)
    return { kind: 'parts', difference: { what: 'finite', step, with: true, names: alone } };
  if (other.length > 0)
    return { kind: 'parts', difference: { what: 'finite', step, with: false, names: other } };
  if (distance.tokens.length === 0 || distance.gradients.size === 0)
    return {
      kind: 'untold',
      why: 'no row of the first step was trained in both runs, or no gradient was there',
    };
  const [worst] = [...distance.gradients].toSorted(([, a], [, b]) => b.relative - a.relative);
  return {
    kind: 'sized',
    step,
    precisions,
    gradients: wholeOf(distance.gradients),
    worst: { name: worst?.[0] ?? '', relative: worst?.[1].relative ?? 0 },
    signs: flippedIn(distance.signs),
    logprob: Math.max(0, ...distance.tokens.map((token) => token.logprob ?? 0)),
    rounding: noise[0] === undefined ? undefined : wholeOf(noise[0].gradients),
  };
}

// --- helpers ---

/** Tensors whose gradient is a number in `whole`, and none in `step`: NaN has no fingerprint. */
function brokenIn(step: TwinStep, whole: TwinStep): readonly string[] {
  const isNumber = (each: TwinStep, name: string): boolean => Number.isFinite(each.gradients.get(name)?.[0]);
  return [...whole.gradients.keys()].filter((name) => isNumber(whole, name) && !isNumber(step, name));
}

/** Norm of the difference of all tensors, over the larger norm. */
function wholeOf(distances: TensorDistances): number {
  const { square, size } = sumsOf(distances);
  return size === 0 ? 0 : Math.sqrt(square / size);
}

/** Of tensors of signs: where two are opposite, their difference is 2. Undefined: none were recorded. */
function flippedIn(signs: TensorDistances): number | undefined {
  const { square, size } = sumsOf(signs);
  return size === 0 ? undefined : square / 4 / size;
}

function sumsOf(distances: TensorDistances): { readonly square: number; readonly size: number } {
  let square = 0;
  let size = 0;
  for (const { own, norms } of distances.values()) {
    const norm = Math.max(...norms);
    if (!Number.isFinite(norm)) continue;
    square += (own * norm) ** 2;
    size += norm ** 2;
  }
  return { square, size };
}
