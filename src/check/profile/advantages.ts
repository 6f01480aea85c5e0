// How rewards become advantages. The spread (group, batch, none; degrees of freedom) is read off rewards so far apart
// that no epsilon shows; the epsilon off rewards so close together that little else does.
import fc from 'fast-check';
import { type AdvantageVariant, describeAdvantage, groupAdvantages } from '../../reference/index.ts';
import { bandOf } from '../numbers.ts';
import type { Subject, World } from '../property.ts';
import { discard } from '../subject.ts';
import { draw, misfitOf, type Probe, type Variant } from './probe.ts';

/** Rewards, one list a group. */
type Groups = readonly (readonly number[])[];

interface AdvantageWay extends Variant {
  readonly way: AdvantageVariant;
}

export const advantageSpread: Probe<Groups> = {
  id: 'advantages',
  items: ['advantage_scaling', 'advantage_ddof'],
  ops: ['advantages'],
  variants: async () =>
    SPREADS.map((spread): AdvantageWay => {
      const way = { ddof: 1 as const, ...spread, epsilon: UNSEEN };
      const items = {
        advantage_scaling: way.scaling,
        ...('ddof' in spread ? { advantage_ddof: way.ddof } : {}),
      };
      const divisor = 'ddof' in spread ? `${way.scaling} standard deviation, ddof ${way.ddof}` : 'nothing';
      return { name: `(reward - group mean) / ${divisor}`, items, way };
    }),
  cases: (world, drawn) => {
    const size = sizeOf(world);
    const reward = fc.integer({ min: -16, max: 16 }).map((n) => n / 2 + 0);
    const groups = fc.array(fc.array(reward, { minLength: size, maxLength: size }), {
      minLength: 2,
      maxLength: 3,
    });
    // A first reward well off keeps every spread large.
    const wide = draw(groups, drawn).map((drawnGroups) =>
      drawnGroups.map((group, at) => group.map((value, i) => (i === 0 ? value + 20 + at : value))),
    );
    return [[ramp(size, 1), ramp(size, 10)], [ramp(size, 4)], ...wide];
  },
  fits: (subject, groups, variants) =>
    fitsOf(subject, groups, variants, (allowed, expected) =>
      Math.max(allowed, SHARE_UNSEEN * Math.abs(expected)),
    ),
};

export const advantageEpsilon: Probe<Groups> = {
  id: 'advantage_epsilon',
  items: ['advantage_epsilon'],
  ops: ['advantages'],
  lack: ({ semantics }) => {
    if (semantics.advantage_scaling === 'none') return 'has no effect: rewards are not scaled';
    return semantics.advantage_scaling === undefined || semantics.advantage_ddof === undefined
      ? 'the standard deviation that it is added to could not be told'
      : undefined;
  },
  variants: async ({ semantics }) => {
    const { advantage_scaling: scaling = 'group', advantage_ddof: ddof = 1, advantage_epsilon } = semantics;
    const epsilons = new Set([...EPSILONS, ...(advantage_epsilon === undefined ? [] : [advantage_epsilon])]);
    return [...epsilons].map((epsilon): AdvantageWay => {
      const way = { scaling, ddof, epsilon };
      return { name: describeAdvantage(way), items: { advantage_epsilon: epsilon }, way };
    });
  },
  cases: (world) =>
    CLOSE.filter((spread) => world.hello.dtype !== 'float16' || spread ** 2 > LEAST_HALF).map((spread) => [
      ramp(sizeOf(world), spread),
    ]),
  fits: (subject, groups, variants) => fitsOf(subject, groups, variants, (allowed) => allowed),
};

async function fitsOf(
  subject: Subject,
  groups: Groups,
  variants: readonly Variant[],
  allowed: (rounding: number, expected: number) => number,
) {
  const rewards = groups.flat();
  const group_ids = groups.flatMap((group, at) => group.map(() => at));
  const { advantages } = await subject.ask('advantages', { rewards, group_ids });
  // A spread that the trainer takes for none, or that its number format does not hold, shows no epsilon.
  if (advantages.every((value) => !(Math.abs(value) > 0))) return discard('the advantages are all 0');
  const band = bandOf(subject, rewards.length);
  return (variants as readonly AdvantageWay[]).map(({ way }) => {
    const expected = groupAdvantages(rewards, group_ids, way);
    const pairs = rewards.map((reward, row) => ({
      where: `the advantage of reward ${reward} in [${groups[group_ids[row] ?? 0]?.join(', ')}]`,
      expected: expected[row],
      observed: advantages[row],
    }));
    return misfitOf(pairs, (want) => allowed(band.allowed(want), want));
  });
}

const SPREADS = [
  { scaling: 'group', ddof: 1 },
  { scaling: 'group', ddof: 0 },
  { scaling: 'batch', ddof: 1 },
  { scaling: 'batch', ddof: 0 },
  { scaling: 'none' },
] as const;

/** In public trainers: 1e-4 TRL, 1e-6 verl, 1e-9 OpenRLHF; the rest in smaller ones, float32's own epsilon included. */
const EPSILONS: readonly number[] = [
  0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1.1920928955078125e-7, 1e-6, 1e-5, 1e-4, 1e-3,
];
/** Between neighbours of that list, where A = s / (s + epsilon) differs most; their squares are normal in float32. */
const CLOSE: readonly number[] = [3e-13, 1e-11, 3e-10, 3e-9, 3e-8, 3e-7, 3e-6, 3e-5, 3e-4, 3e-2];
/** The least normal number of float16: a spread whose square is below it has no deviation there. */
const LEAST_HALF = 2 ** -14;
/** In the middle of the list; at spreads above 1 the largest of them moves an advantage by 1/1000. */
const UNSEEN = 1e-6;
const SHARE_UNSEEN = 3e-3;
/** Where the trainer does not fix it: even, so that the mean of a ramp is exactly 0. */
const SIZE = 4;

function sizeOf(world: World): number {
  return Math.max(2, world.hello.ops.advantages?.group_size ?? SIZE);
}

/** Rewards around 0, whose mean is exactly 0 in every number format: s, -s, s, -s, and 0 where one is left. */
function ramp(size: number, spread: number): number[] {
  return Array.from({ length: size }, (_, at) =>
    at === size - 1 && size % 2 === 1 ? 0 : at % 2 === 0 ? spread : -spread,
  );
}
