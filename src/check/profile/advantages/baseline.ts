// What is subtracted from a reward, whatever the rest is divided by: of a trainer whose scale is none of the known ones (the
// deviation over tokens, the share of rows that are not 0, a constant) that much can be told still, and decides
// whether its advantages are to be judged group by group.
import type { Semantics } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { World } from '../../property.ts';
import { discard } from '../../subject.ts';
import { misfitOf, type Probe, type Variant } from '../probe.ts';
import { farApart, type Groups, lengthsOf } from './advantages.ts';

interface BaselineWay extends Variant {
  /** The baseline of each row. */
  readonly of: (group: readonly number[], all: readonly number[], lengths: readonly number[]) => number;
}

/** The mean of the group's others leaves a multiple of what the group's mean leaves: with a free scale, they are one. */
const WAYS: readonly BaselineWay[] = [
  { ...named('group-mean'), of: (group) => mean(group) },
  { ...named('length-weighted'), of: (group, _, lengths) => mean(group, lengths) },
  { ...named('batch-mean'), of: (_, all) => mean(all) },
  { ...named('none'), of: () => 0 },
];

export const advantageBaseline: Probe<Groups> = {
  id: 'advantage_baseline',
  items: ['advantage_baseline'],
  ops: ['advantages'],
  lack: ({ semantics }) =>
    semantics.advantage_baseline === undefined ? undefined : 'the baseline is known, and the scale with it',
  variants: async () => WAYS,
  // Of one group, its mean is the batch's.
  cases: (world: World, drawn) => farApart(world, drawn).filter((groups) => groups.length > 1),
  async fits(subject, groups, variants) {
    const rewards = groups.flat();
    const group_ids = groups.flatMap((group, at) => group.map(() => at));
    const lengths = lengthsOf(groups);
    const { advantages } = await subject.ask('advantages', { rewards, group_ids, lengths });
    if (advantages.every((value) => !(Math.abs(value) > 0))) return discard('the advantages are all 0');
    const band = bandOf(subject, rewards.length);
    return (variants as readonly BaselineWay[]).map(({ of }) => {
      const centred = rewards.map((reward, row) => {
        const own = lengths.filter((_, other) => group_ids[other] === group_ids[row]);
        return reward - of(groups[group_ids[row] ?? 0] ?? [], rewards, own);
      });
      const factors = groups.map((_, group) => factorOf(centred, advantages, group_ids, group));
      const pairs = rewards.map((reward, row) => ({
        where: `the advantage of reward ${reward} in [${groups[group_ids[row] ?? 0]?.join(', ')}]`,
        expected: (factors[group_ids[row] ?? 0] ?? Number.NaN) * (centred[row] ?? Number.NaN),
        observed: advantages[row],
      }));
      const largest = Math.max(...advantages.map(Math.abs));
      return misfitOf(pairs, () => Math.max(band.allowed(largest), ROUNDING * largest));
    });
  },
};

/** What the row of a group that is furthest from its baseline was multiplied by; NaN where the larger got the smaller. */
function factorOf(
  centred: readonly number[],
  advantages: readonly number[],
  group_ids: readonly number[],
  group: number,
): number {
  const rows = centred.flatMap((_, row) => (group_ids[row] === group ? [row] : []));
  const size = (row: number): number => Math.abs(centred[row] ?? 0);
  const far = rows.reduce((best, row) => (size(row) > size(best) ? row : best), rows[0] ?? 0);
  const factor = (advantages[far] ?? Number.NaN) / (centred[far] ?? Number.NaN);
  return factor > 0 ? factor : Number.NaN;
}

/** Several roundings of a number format of its own, whitening's for one, are no baseline. */
const ROUNDING = 1e-2;

function named(advantage_baseline: NonNullable<Semantics['advantage_baseline']>): Variant {
  return { name: advantage_baseline, items: { advantage_baseline } };
}

function mean(values: readonly number[], weights: readonly number[] = values.map(() => 1)): number {
  const sum = values.reduce((sum, value, at) => sum + value * (weights[at] ?? 1), 0);
  return sum / weights.reduce((all, weight) => all + weight, 0);
}
