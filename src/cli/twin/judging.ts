// What is told of a run with a change beside the run without it.
import type { Change } from '../../twin/changes.ts';
import { distancesOf, type StepDistance } from '../../twin/distance.ts';
import { pictureOf } from '../../twin/picture.ts';
import type { TwinRun } from '../../twin/run.ts';
import { sizeOutcome } from '../../twin/size.ts';
import { REPEAT, RESUME } from '../../twin/twin.ts';
import { isChaos, type Outcome, outcomeOf, outcomeOfRows } from '../../twin/verdict.ts';
import { type Failure, failedWords } from './failure.ts';
import type { Ran } from './runs.ts';

/** The run without a change. */
export interface Base {
  readonly run: TwinRun;
  /** From itself, with every weight moved by its rounding. */
  readonly noise: readonly StepDistance[];
}

export type Judge = (base: Base, other: Ran) => Outcome;

/** @param before steps of the run that saved a checkpoint, where a change resumes it */
export function judgeOf({ name, ofSize, ofRows }: Change, steps: number, before: number): Judge {
  if (ofSize === true) return sized;
  if (ofRows === true) return comparedRows;
  if (name === REPEAT) return (base, other) => compared(base, other, steps, true);
  const from = name === RESUME ? before : 0;
  return (base, other) => unlessSampled(compared(after(base, from), other, steps), base);
}

/** @param steps that were asked for; a run that ends by itself with fewer is no run that agrees */
export function compared(base: Base, { run, failure }: Ran, steps: number, isRepeat = false): Outcome {
  const distances = distancesOf(base.run, run);
  const outcome = outcomeOf(distances, base.noise, isRepeat);
  const wanted = Math.min(steps, base.run.steps.filter(({ made }) => made).length);
  if (outcome.kind === 'parts' || distances.length >= wanted) return pictured(outcome, distances, base.noise);
  if (failure !== undefined) return failedWith(failure);
  const step = base.run.steps[distances.length]?.index ?? 0;
  const difference = { what: 'count' as const, step, counts: [wanted, distances.length] as const };
  return pictured({ kind: 'parts', difference }, distances, base.noise);
}

/** The steps from the `count`th on, as a base of their own. */
export function after({ run, noise }: Base, count: number): Base {
  const before = run.steps[count - 1]?.after;
  const [first, ...rest] = run.steps.slice(count);
  const steps =
    first === undefined ? [] : [{ ...first, ...(before === undefined ? {} : { before }) }, ...rest];
  return { run: { ...run, steps }, noise: noise.slice(count) };
}

export const madeBy = ({ run }: Ran): number => run.steps.filter(({ made }) => made).length;

export const failedWith = (failure: Failure): Outcome => ({
  kind: 'untold',
  why: `with the change the script failed ${failedWords(failure)}`,
  lines: failure.lines,
});

// --- helpers ---

/** Up to the step in which rounding alone takes the runs apart. */
function pictured(
  outcome: Outcome,
  distances: readonly StepDistance[],
  noise: readonly StepDistance[],
  ofRows = false,
): Outcome {
  if (outcome.kind !== 'agree' && outcome.kind !== 'parts') return outcome;
  const chaos = noise.findIndex((each, at) => at > 0 && isChaos(each));
  const calm = chaos < 0 ? distances : distances.slice(0, chaos);
  return { ...outcome, picture: pictureOf(calm, noise, ofRows) };
}

function comparedRows({ run, noise }: Base, other: Ran): Outcome {
  if (madeBy(other) === 0 && other.failure !== undefined) return failedWith(other.failure);
  const distances = distancesOf(run, other.run);
  return pictured(outcomeOfRows(distances, noise), distances.slice(0, 1), noise, true);
}

/** A script with autocast runs without it, and one without runs with it. */
function sized({ run, noise }: Base, other: Ran): Outcome {
  if (madeBy(other) === 0 && other.failure !== undefined) return failedWith(other.failure);
  const half = run.half ?? 'bfloat16';
  return sizeOutcome(run, other.run, noise, run.half === undefined ? ['float32', half] : [half, 'float32']);
}

function unlessSampled(outcome: Outcome, { run }: Base): Outcome {
  if (outcome.kind !== 'parts' || outcome.difference.what !== 'rows' || !run.samples) return outcome;
  return {
    kind: 'untold',
    why: 'the script samples tokens, and with the change it samples others: there is no row that both runs train',
  };
}
