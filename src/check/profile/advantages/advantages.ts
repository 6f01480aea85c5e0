// How rewards become advantages. Baseline and spread (group, batch, none; degrees of freedom) are read off rewards so far
// apart that no epsilon shows; the epsilon, and where it stands, off rewards so close together that little else does.

import fc from 'fast-check';
import {
  type AdvantageVariant,
  describeAdvantage,
  groupAdvantages,
  withImpliedEpsilon,
} from '../../../reference/index.ts';
import { CHOICES } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { Subject, World } from '../../property.ts';
import { discard } from '../../subject.ts';
import { draw, misfitOf, type Probe, settled, type Variant } from '../probe.ts';

/** Rewards, one list per group. */
export type Groups = readonly (readonly number[])[];

interface AdvantageWay extends Variant {
  readonly way: AdvantageVariant;
}

export const advantageSpread: Probe<Groups> = {
  id: 'advantages',
  items: ['advantage_baseline', 'advantage_scaling', 'advantage_ddof'],
  ops: ['advantages'],
  variants: async () =>
    WAYS.map((way): AdvantageWay => {
      const { baseline, scaling, ddof } = way;
      const scaled = scaling === 'none' ? {} : { advantage_ddof: ddof };
      const items = { advantage_baseline: baseline, advantage_scaling: scaling, ...scaled };
      return { name: describeAdvantage(way).replace(`, + ${UNSEEN}`, ''), items, way };
    }),
  cases: farApart,
  fits: (subject, groups, variants) =>
    fitsOf(subject, groups, variants, lengthsOf(groups), (allowed, expected) =>
      Math.max(allowed, SHARE_UNSEEN * Math.abs(expected)),
    ),
};

/** Rewards so far apart that no epsilon shows. */
export function farApart(world: World, drawn: number): Groups[] {
  const size = sizeOf(world);
  const reward = fc.integer({ min: -16, max: 16 }).map((n) => n / 2 + 0);
  const groups = fc.array(fc.array(reward, { minLength: size, maxLength: size }), {
    minLength: 2,
    maxLength: 3,
  });
  // A first reward well off keeps every spread large; all of them are exact in half precision, squares included.
  const wide = draw(groups, drawn).map((drawnGroups) =>
    drawnGroups.map((group, at) => group.map((value, i) => 4 * (i === 0 ? value + 20 + at : value))),
  );
  const lifted = (by: number, group: readonly number[]) => group.map((value) => value + by);
  return [
    [ramp(size, 16), lifted(5, ramp(size, 96))],
    [lifted(-3, ramp(size, 64))],
    [lifted(2, ramp(size, 80)), ramp(size, 32), lifted(-7, ramp(size, 16))],
    ...wide,
  ];
}

export const advantageEpsilon: Probe<Groups> = {
  id: 'advantage_epsilon',
  items: ['advantage_epsilon', 'advantage_epsilon_placement'],
  ops: ['advantages'],
  lack: ({ semantics }) => {
    if (semantics.advantage_scaling === 'none') return 'has no effect: rewards are not scaled';
    return semantics.advantage_scaling === undefined || semantics.advantage_ddof === undefined
      ? 'the standard deviation that it is added to could not be told'
      : undefined;
  },
  variants: async (subject) => {
    const { semantics } = subject;
    const { advantage_scaling: scaling = 'group', advantage_ddof: ddof = 1, advantage_epsilon } = semantics;
    const { advantage_baseline: baseline = 'group-mean' } = semantics;
    const declared = advantage_epsilon === undefined ? [] : [advantage_epsilon];
    const found: AdvantageWay[] = [];
    for (const placement of CHOICES.advantage_epsilon_placement.values) {
      const form = { scaling, ddof, baseline, placement };
      const solved = await impliedEpsilon(subject, form);
      for (const epsilon of new Set([...EPSILONS, ...declared, ...solved])) {
        if (epsilon === 0 && placement === 'variance') continue; // it is the same as beside the root
        const way = { ...form, epsilon };
        const where = epsilon === 0 ? {} : { advantage_epsilon_placement: placement };
        found.push({ name: describeAdvantage(way), items: { advantage_epsilon: epsilon, ...where }, way });
      }
    }
    return found;
  },
  cases: (world) =>
    CLOSE.filter((spread) => world.hello.dtype !== 'float16' || spread ** 2 > LEAST_HALF).map((spread) => [
      closeTogether(world, spread),
    ]),
  fits: (subject, groups, variants) =>
    fitsOf(subject, groups, variants, alike(groups.flat()), (allowed) => allowed),
};

/** Tokens of each completion: in every group some are longer than others, in ways that no mean over rows explains. */
export function lengthsOf(groups: Groups): number[] {
  return groups.flatMap((group) => group.map((_, place) => LENGTHS[place % LENGTHS.length] ?? 1));
}

/** So that a mean weighted by them is exactly the mean. */
const alike = (rows: readonly unknown[]): number[] => rows.map(() => 1);

/** What the least spread with an advantage implies, where nearly all of the divisor is epsilon. */
async function impliedEpsilon(
  subject: Subject,
  form: Pick<AdvantageVariant, 'scaling' | 'ddof' | 'baseline' | 'placement'>,
): Promise<number[]> {
  for (const spread of CLOSE) {
    const rewards = closeTogether(subject, spread);
    const group_ids = rewards.map(() => 0);
    const lengths = alike(rewards);
    const { advantages } = await subject.ask('advantages', { rewards, group_ids, lengths });
    if (advantages.every((value) => !(Math.abs(value) > 0))) continue;
    const bare = { ...form, epsilon: 0 };
    const { epsilon } = withImpliedEpsilon(rewards, group_ids, advantages, bare, LARGEST, lengths);
    const blur = Math.max(bandOf(subject).relative, SOLVED);
    // Less is what rounding leaves of none.
    const least = TELLING * (form.placement === 'variance' ? spread ** 2 : spread);
    return epsilon > least && epsilon < LARGEST
      ? [settled(epsilon, blur, subject.semantics.advantage_epsilon)]
      : [];
  }
  return [];
}

async function fitsOf(
  subject: Subject,
  groups: Groups,
  variants: readonly Variant[],
  lengths: readonly number[],
  allowed: (rounding: number, expected: number) => number,
) {
  const rewards = groups.flat();
  const group_ids = groups.flatMap((group, at) => group.map(() => at));
  const { advantages } = await subject.ask('advantages', { rewards, group_ids, lengths });
  // A spread that the trainer takes for none, or that its number format does not hold, shows no epsilon.
  if (advantages.every((value) => !(Math.abs(value) > 0))) return discard('the advantages are all 0');
  const band = bandOf(subject, rewards.length);
  return (variants as readonly AdvantageWay[]).map(({ way }) => {
    const expected = groupAdvantages(rewards, group_ids, way, lengths);
    const pairs = rewards.map((reward, row) => ({
      where: `the advantage of reward ${reward} in [${groups[group_ids[row] ?? 0]?.join(', ')}]`,
      expected: expected[row],
      observed: advantages[row],
    }));
    return misfitOf(pairs, (want) => allowed(band.allowed(want), want));
  });
}

const BASELINES = [
  'group-mean',
  'leave-one-out',
  'length-weighted',
  'leave-one-out-max',
  'batch-mean',
  'none',
] as const;
const LENGTHS: readonly number[] = [1, 2, 5, 3];
/** Of these, what is left of a batch has another deviation than its rewards, and not by one factor. */
const OF_GROUPS: readonly (typeof BASELINES)[number][] = ['group-mean', 'length-weighted'];

/** In the middle of the list; at spreads above 16 an epsilon of 0.03 moves an advantage by 1/500. */
const UNSEEN = 1e-6;

/**
 * A batch of what is left after the group's mean is told from one of rewards; after that of the others it is the same
 * again, by one factor in all groups of a size, and after one number for the whole batch it is that of the rewards.
 */
const WAYS: readonly (AdvantageVariant & Required<Pick<AdvantageVariant, 'baseline'>> & { ddof: 0 | 1 })[] =
  BASELINES.flatMap((baseline) => [
    ...(OF_GROUPS.includes(baseline) ? (['rewards', 'centred'] as const) : (['rewards'] as const)).flatMap(
      (batchOf) =>
        ([1, 0] as const).map((ddof) => ({
          baseline,
          scaling: 'batch' as const,
          ddof,
          batchOf,
          epsilon: UNSEEN,
        })),
    ),
    ...([1, 0] as const).map((ddof) => ({ baseline, scaling: 'group' as const, ddof, epsilon: UNSEEN })),
    { baseline, scaling: 'none' as const, ddof: 1 as const, epsilon: UNSEEN },
  ]);

/** In public trainers: 1e-4 TRL, 1e-6 verl, 1e-9 OpenRLHF; the rest in smaller ones, float32's own epsilon included. */
const EPSILONS: readonly number[] = [
  0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1.1920928955078125e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2,
];
/** Between neighbours of that list, where A = s / (s + epsilon) differs most; their squares are normal in float32. */
const CLOSE: readonly number[] = [3e-13, 1e-11, 3e-10, 3e-9, 3e-8, 3e-7, 3e-6, 3e-5, 3e-4, 3e-2];
/** The least normal number of float16: a spread whose square is below it has no deviation there. */
const LEAST_HALF = 2 ** -14;
/** A larger one is no guard against a division by zero. */
const LARGEST = 0.5;
const SOLVED = 1e-6;
const TELLING = 10;
const SHARE_UNSEEN = 3e-3;
/** Where the trainer does not fix it: even, so that the mean of a ramp is exactly 0. */
const SIZE = 4;

function sizeOf(world: World): number {
  return Math.max(2, world.hello.ops.advantages?.group_size ?? SIZE);
}

/** A group of so little spread; where only its best row has an advantage, with one that is best. */
function closeTogether(world: World, spread: number): number[] {
  const rewards = ramp(sizeOf(world), spread);
  return world.semantics.advantage_baseline === 'leave-one-out-max'
    ? rewards.map((_, at) => (at === 0 ? spread : -spread))
    : rewards;
}

/** Rewards around 0, whose mean is exactly 0 in every number format: s, -s, s, -s, and 0 where one is left. */
function ramp(size: number, spread: number): number[] {
  return Array.from({ length: size }, (_, at) =>
    at === size - 1 && size % 2 === 1 ? 0 : at % 2 === 0 ? spread : -spread,
  );
}
