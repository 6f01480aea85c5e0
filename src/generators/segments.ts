// Segments of a replay buffer for op `contract`, with the losses that are switched on.
import fc from 'fast-check';
import type { Segment } from '../vocabulary.ts';

export interface Handover {
  readonly segments: readonly Segment[];
  /** Other segments, for a second hand-over. */
  readonly others: readonly Segment[];
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
  const list = fc.array(segment, { minLength: 1, maxLength: MAX_SEGMENTS });
  return fc.record({
    segments: list,
    others: list,
    order: fc.constantFrom(...orders),
    enabled: fc.subarray([...losses], { minLength: 1 }),
  });
}

/** Both hand-overs are pairs of unequal length and reward: no baseline makes their sum over tokens cancel. */
export function contrasts(
  orders: readonly (readonly string[])[],
  losses: readonly string[],
): fc.Arbitrary<Handover> {
  const rewards = [-1, -0.5, 0.25, 0.5, 1];
  const pair = fc
    .record({
      ids: fc.array(fc.nat(IDS), { minLength: 2 * MAX_IDS, maxLength: 2 * MAX_IDS }),
      prompt: fc.array(fc.nat(IDS), { minLength: 1, maxLength: MAX_IDS }),
      lengths: fc.shuffledSubarray([1, 2, MAX_IDS - 1, MAX_IDS], { minLength: 2, maxLength: 2 }),
      rewards: fc.shuffledSubarray(rewards, { minLength: 2, maxLength: 2 }),
    })
    .map(({ ids, prompt, lengths, rewards: drawn }) =>
      lengths.map((length, at) => ({
        prompt_ids: prompt,
        completion_ids: ids.slice(at * MAX_IDS, at * MAX_IDS + length),
        reward: drawn[at] ?? 1,
      })),
    );
  return handover(orders, losses).chain((drawn) =>
    fc.record({ segments: pair, others: pair }).map((pairs) => ({ ...drawn, ...pairs })),
  );
}

export function handoverLabels({ order, enabled }: Handover): string[] {
  return [`${order.length} elements`, `${enabled.length} ${enabled.length === 1 ? 'loss' : 'losses'}`];
}
