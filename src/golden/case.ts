// What a golden case is: data, with an id that lasts. Its arguments depend on the trainer only where they must, on its own
// special ids and on what its ops can be asked for.
import type { World } from '../check/property.ts';
import type { Args, Op } from '../protocol/message.ts';

/** Version of the set of cases: another one where any case gets other arguments, or goes. */
export const GOLDEN_SET = 1;

export interface GoldenCase<O extends Op = Op> {
  /** Permanent, `stage/name`. */
  readonly id: string;
  readonly op: O;
  /** The request; or why this trainer cannot be asked, as a sentence without its full stop. */
  readonly given: (world: World) => Args<O> | string;
}

/** Gives a case the type of its op, and takes it away again: the set is one list. */
export function goldenCase<O extends Op>(
  id: string,
  op: O,
  given: (world: World) => Args<O> | string,
): GoldenCase {
  return { id, op, given } as unknown as GoldenCase;
}
