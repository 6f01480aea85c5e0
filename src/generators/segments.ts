// Segments of a replay buffer for op `contract`, with the losses that are switched on.
import fc from 'fast-check';
import type { Segment } from '../vocabulary.ts';

export interface Handover {
  readonly segments: readonly Segment[];
  /** Index into the orders that the trainer declares. */
  readonly order: readonly string[];
  readonly enabled: readonly string[];
}

const MAX_SEGMENTS = 4;
const MAX_IDS = 4;
const IDS = 30;

export function handover(
  orders: readonly (readonly string[])[],
  losses: readonly string[],
): fc.Arbitrary<Handover> {
  const ids = fc.array(fc.nat(IDS), { minLength: 1, maxLength: MAX_IDS });
  const segment = fc.record({
    prompt_ids: ids,
    completion_ids: ids,
    reward: fc.integer({ min: -4, max: 4 }).map((n) => n / 4 + 0),
  });
  return fc.record({
    segments: fc.array(segment, { minLength: 1, maxLength: MAX_SEGMENTS }),
    order: fc.constantFrom(...orders),
    enabled: fc.subarray([...losses], { minLength: 1 }),
  });
}

export function handoverLabels({ order, enabled }: Handover): string[] {
  return [`${order.length} elements`, `${enabled.length} ${enabled.length === 1 ? 'loss' : 'losses'}`];
}
