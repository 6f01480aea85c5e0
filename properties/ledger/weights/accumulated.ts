// Steps whose weights add up to one over the number of their micro-batches, or to that number: a mean that accumulation divides
// once too often, or not at all. A coefficient may be that number too, so that it is asked.
import { type Ledger, type LedgerNotice, show } from '../../../src/index.ts';
import { eventsOf, numberIn } from '../steps/made.ts';
import type { Taught } from './counts.ts';

/** Of float32; what is rougher is no exact quotient. */
const EXACT = 1e-3;

export function accumulated(ledger: Ledger, steps: readonly Taught[]): LedgerNotice | undefined {
  const [first] = steps;
  const parts = first?.accumulated ?? 1;
  if (
    first === undefined ||
    parts < 2 ||
    steps.some(({ step }) => isReworked(ledger, step)) ||
    !steps.every((each) => each.accumulated === parts)
  )
    return undefined;
  const isAll = (factor: number): boolean => steps.every(({ sum }) => Math.abs(sum / factor - 1) <= EXACT);
  const twice = isAll(1 / parts);
  // One micro-batch of two that counts for nothing leaves half of a mean as well.
  if (steps.some((step) => weighing(step) < parts)) return undefined;
  // Several losses of one step, of other lines of the script, are added up on purpose.
  if (!twice && !(isAll(parts) && isOneLine(ledger, first.step))) return undefined;
  const said = twice
    ? `as where a mean over the step is divided by its ${parts} micro-batches once more`
    : `as where the means of its ${parts} micro-batches are added up`;
  return {
    sentence: `The weights of each step add up to ${show(first.sum)}, ${said}: the gradient is ${show(first.sum)} times that of a mean.`,
    answers: ['"own_formulas": ["sft_loss"]'],
    // Two losses of one step may be two tasks.
    asked: twice || parts > 2,
  };
}

/**
 * The script multiplied its gradients after the backward passes, which is not in the weights. Clipping alone also changes
 * gradients, and most scripts clip: then the factor before clipping is 1.
 */
const isReworked = (ledger: Ledger, step: number): boolean =>
  eventsOf(ledger, 'reworked', step).some(
    (event) => !(Math.abs((numberIn(event, 'by') ?? Number.NaN) - 1) <= EXACT),
  );

/** Micro-batches in which something is trained. */
const weighing = ({ batches }: Taught): number =>
  batches.filter(({ weights }) => weights.some(({ value }) => value > 0)).length;

const isOneLine = ({ steps }: Ledger, index: number): boolean =>
  steps
    .find((step) => step.index === index)
    ?.ranks.every(({ done }) => (done?.backwardPlaces?.length ?? 0) === 1 && done?.backwards === 1) === true;
