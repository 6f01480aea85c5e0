// Segments of a replay buffer for op `contract`, with the losses that are switched on.
import fc from 'fast-check';
import type { Segment } from '../../vocabulary.ts';
import { FINE, rarely, timesOver, twinned } from '../rarely.ts';

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
/** One hand-over in so many is of so many times the segments. */
const MANY_ONE_IN = 6;
const TIMES = 5;
const IDS = 30;

/**
 * Two arbitrary hand-overs of a replay buffer, with one of these orders of the tuple and some of these losses
 * enabled.
 */
export function handover(
  orders: readonly (readonly string[])[],
  losses: readonly string[],
): fc.Arbitrary<Handover> {
  const list = fc
    .tuple(twinned(fc.array(segments(), { minLength: 1, maxLength: MAX_SEGMENTS })), rarely(MANY_ONE_IN))
    .map(([drawn, many]) => (many ? timesOver(drawn, TIMES) : drawn));
  return fc.record({
    segments: list,
    others: list,
    order: fc.constantFrom(...orders),
    enabled: fc.shuffledSubarray([...losses], { minLength: 1 }),
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

/** A hand-over in some of the elements of the declared orders, in any order: one that nobody declared, mostly. */
export function anyOrder(
  orders: readonly (readonly string[])[],
  losses: readonly string[],
): fc.Arbitrary<Handover> {
  const elements = fc.shuffledSubarray([...new Set(orders.flat())]);
  return fc.record({ drawn: handover(orders, losses), order: elements }).map(({ drawn, order }) => ({
    ...drawn,
    order,
  }));
}

/** What a hand-over exercises. */
export function handoverLabels({ order, enabled, segments }: Handover): string[] {
  const rewards = new Set(segments.map(({ reward }) => reward));
  const labels = [
    `${order.length} elements`,
    `${enabled.length} ${enabled.length === 1 ? 'loss' : 'losses'}`,
  ];
  if (segments.length === 1) labels.push('one segment');
  if (rewards.size === 1) labels.push('equal rewards');
  if (rewards.size === 1 && rewards.has(0)) labels.push('all rewards 0');
  return labels;
}

/** Steps for op `segment_rows`; at times one of them stands there twice, as a bandit's step does. */
export function segmentLists(): fc.Arbitrary<{ readonly segments: readonly Segment[] }> {
  return fc
    .record({
      segments: fc.array(segments(), { minLength: 1, maxLength: MAX_SEGMENTS - 1 }),
      again: fc.boolean(),
      many: rarely(MANY_ONE_IN),
      fine: fc.boolean(),
    })
    .map(({ segments: drawn, again, many, fine }) => {
      const exact = fine ? drawn.map((each) => ({ ...each, reward: FINE * each.reward })) : drawn;
      const some = again ? [...exact, ...exact.slice(0, 1)] : exact;
      return { segments: many ? timesOver(some, TIMES) : some };
    });
}

/** What a list of segments exercises. */
export function segmentListLabels({ segments }: { readonly segments: readonly Segment[] }): string[] {
  const labels: string[] = [];
  if (segments.length > 1) labels.push('several segments');
  if (new Set(segments.map((segment) => JSON.stringify(segment))).size < segments.length)
    labels.push('same segment twice');
  if (segments.some(({ reward }) => reward === 0)) labels.push('reward 0');
  return labels;
}

function segments(): fc.Arbitrary<Segment> {
  const ids = fc.array(fc.nat(IDS), { minLength: 1, maxLength: MAX_IDS });
  return fc.record({
    prompt_ids: ids,
    completion_ids: ids,
    reward: fc.integer({ min: -4, max: 4 }).map((n) => n / 4 + 0),
  });
}
