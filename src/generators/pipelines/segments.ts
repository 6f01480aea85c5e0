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
/** Some have so many times the ids: an action of dozens of tokens is none of a handful. */
const LONG_ONE_IN = 8;
const LONGER = 30;
/** And some are further up, as far as the vocabulary goes: two bytes, or one, do not hold them. */
const LARGE_ONE_IN = 8;
const LARGE = 2 ** 17 + 2 ** 8;

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

/** Steps for op `segment_rows`, of ids below `most`; at times one of them stands there twice, as a bandit's step does. */
export function segmentLists(
  most = Number.POSITIVE_INFINITY,
): fc.Arbitrary<{ readonly segments: readonly Segment[] }> {
  return fc
    .record({
      segments: fc.array(segments(most), { minLength: 1, maxLength: MAX_SEGMENTS - 1 }),
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

/** Of ids below `most`; of a buffer that a model is behind, none are large. */
function segments(most = 0): fc.Arbitrary<Segment> {
  const ids = fc.array(fc.nat(IDS), { minLength: 1, maxLength: MAX_IDS });
  const offset = Math.min(LARGE, most - IDS - 1);
  return fc
    .record({
      prompt_ids: ids,
      completion_ids: ids,
      reward: fc.integer({ min: -4, max: 4 }).map((n) => n / 4 + 0),
      long: rarely(LONG_ONE_IN),
      large: offset > 0 ? rarely(LARGE_ONE_IN) : fc.constant(false),
    })
    .map(({ prompt_ids, completion_ids, reward, long, large }) => {
      const made = (drawn: readonly number[]): number[] =>
        (long ? timesOver(drawn, LONGER) : drawn).map((id) => (large ? offset + id : id));
      return { prompt_ids: made(prompt_ids), completion_ids: made(completion_ids), reward };
    });
}
