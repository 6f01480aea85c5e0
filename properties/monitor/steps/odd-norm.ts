// What became of a gradient norm that is no number: the step was skipped, as under a loss scaler, or it was not.
import type { RuleWorld, Series, Violation } from '../../../src/index.ts';
import { at, read } from '../watches.ts';
import { hasRollouts, inBfloat16 } from '../world.ts';

/** A norm that is no number, until the steps after it tell what became of it. */
export interface Odd {
  readonly series: Series;
  readonly step: number;
  readonly value: number;
  readonly loss: number | undefined;
  /** The loss of this step is no other than that of the step before. */
  readonly calm: boolean;
  /** The rate of this step, where it stood still and had not before. */
  readonly heldAt: number | undefined;
}

interface After {
  readonly step: number;
  readonly value: number;
  readonly loss: number | undefined;
  readonly rate: number;
}

/** Batches of one run differ by as much. */
const USUAL = 3;

/** `open`: the next step tells. Else it is a finding, and how its sentence ends. */
type Fate = 'open' | 'skipped' | { readonly outcome: string };

/** Of a norm that was no number, by the step after it. */
export function fateOf(world: RuleWorld, odd: Odd, after: After): Fate {
  const { step, value, loss, rate } = after;
  const isNumber = Number.isFinite(value);
  const lossIsNumber = loss === undefined || Number.isFinite(loss);
  const same = odd.calm && sameLoss(world, odd.loss, loss);
  // A step that is skipped changes nothing.
  if (lossIsNumber && same && !inBfloat16(world)) {
    const held = odd.heldAt !== undefined;
    const overflows = !Number.isNaN(odd.value);
    // A scale is halved more than once where it must be; finite-training says when that is too often.
    if (!isNumber && ((held && rate === odd.heldAt) || (overflows && value === odd.value))) return 'open';
    if (isNumber && ((held && rate !== odd.heldAt) || overflows)) return 'skipped';
  }
  if (!isNumber) return { outcome: `That of step ${step} is ${read(value)} as well.` };
  if (!lossIsNumber) return { outcome: `The loss of step ${step} is ${read(loss)}.` };
  const again = `At step ${step} it is a number again`;
  return {
    outcome: same
      ? `${again}: nothing was learnt from the batch between.`
      : `${again}, and the loss is another: ${read(loss ?? Number.NaN)}.`,
  };
}

/** The same, where no step came after it. */
export function mayBeSkipped(world: RuleWorld, { value, heldAt, calm }: Odd): boolean {
  return calm && !inBfloat16(world) && (heldAt !== undefined || !Number.isNaN(value));
}

/** The loss of a policy has no size of its own; another's that is exactly 0 may be a NaN that was filtered. */
export function sameLoss(world: RuleWorld, before: number | undefined, after: number | undefined): boolean {
  if (before === undefined || after === undefined || before <= 0 || hasRollouts(world)) return true;
  return after !== 0 && after <= USUAL * before;
}

export function violationOf({ series, step, value, loss }: Odd, outcome: string): Violation {
  const beside = loss === undefined ? '' : ` while the loss is ${read(loss)}`;
  return {
    kind: series.part === '' ? 'not finite' : `not finite: ${series.part}`,
    sentence: `${at(series, step)} is ${read(value)}${beside}. ${outcome}`,
    series,
    step,
    value,
  };
}
