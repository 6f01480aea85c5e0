// Why an answer is wrong, by name. A smallest case is too small to tell: with one token nearly any mistake fits. So a finding
// asks the trainer about one rich case more, and what explains every number of that is the cause.
import type fc from 'fast-check';
import type { Cause } from '../../reference/index.ts';
import { draw } from '../profile/probe.ts';

/** The case with the most in it, out of some that the generator always draws alike. */
export function richest<Case>(arbitrary: fc.Arbitrary<Case>): Case | undefined {
  const sizes = draw(arbitrary, DRAWN).map((given) => ({ given, size: JSON.stringify(given).length }));
  return sizes.sort((a, b) => b.size - a.size)[0]?.given;
}

/** What `explain` finds; nothing where the trainer refuses or fails to answer, which is another finding. */
export async function causeIn<T = Cause>(explain: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await explain();
  } catch {
    return undefined;
  }
}

const DRAWN = 20;
