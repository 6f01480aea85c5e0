// Batches of groups as op `advantages` is asked for them, and what the rules about it share.
import {
  type Args,
  type Grouped,
  grouped,
  type Ids,
  type Need,
  type Ragged,
  type Semantics,
  type Subject,
  type World,
} from '../../src/index.ts';

/** How the trainer's groups are, for `grouped`. */
export const shapeOf = ({ hello }: World) => ({
  size: hello.ops.advantages?.group_size,
  interleaved: hello.ops.advantages?.interleaved_groups,
  dtype: hello.dtype,
});

export const given =
  (minGroups = 1) =>
  (world: World) =>
    grouped({ ...shapeOf(world), minGroups });

/** What is declared of advantages is said of groups, but for what another baseline has as well. */
const saidOfGroups = ({ advantage_scaling: scaling }: Semantics): boolean =>
  scaling === 'group' || scaling === 'none';

/** Advantages are relative to the group, in either way: declared to be, or measured. */
export const groupBaseline: Need = ({ semantics }) => {
  const { advantage_baseline: baseline } = semantics;
  if (baseline === 'batch-mean' || baseline === 'none')
    return `semantics.advantage_baseline is "${baseline}": rewards are not compared within their group`;
  return baseline !== undefined || saidOfGroups(semantics)
    ? undefined
    : 'semantics.advantage_baseline is not declared, and no known baseline fits what was answered';
};

/** What the baseline leaves adds up to 0. */
export const centredBaseline: Need = ({ semantics: { advantage_baseline: baseline } }) =>
  baseline === 'leave-one-out-max'
    ? 'semantics.advantage_baseline is "leave-one-out-max": only the best row of a group has an advantage'
    : undefined;

/**
 * Advantages without what rounding leaves of rewards that are all equal, in their group, or in the batch where it is
 * that which they are compared with.
 */
export function quieted(
  { semantics: { advantage_baseline: baseline } }: World,
  { rewards, group_ids }: Args<'advantages'>,
  advantages: readonly number[],
): readonly number[] {
  if (baseline === 'none') return advantages;
  const isEqual = (row: number): boolean =>
    rewards.every(
      (reward, other) =>
        reward === rewards[row] || (baseline !== 'batch-mean' && group_ids[other] !== group_ids[row]),
    );
  return advantages.map((value, row) => (Math.abs(value) <= HARMLESS && isEqual(row) ? 0 : value));
}

/** The rows in the order of the batch: group after group, or the first row of each group, then the second. */
export function flat({
  groups,
  prompts,
  lengths = [], // saved by an earlier version, a case has none
  interleaved,
}: Grouped): Args<'advantages'> & { readonly prompt_ids: Ragged; readonly lengths: Ids } {
  const rows = groups.flatMap((group, at) =>
    group.map((reward, place) => ({
      reward,
      group: at,
      place,
      prompt: prompts[at] ?? [],
      length: lengths[at]?.[place] ?? 1,
    })),
  );
  const ordered = interleaved ? [...rows].sort((a, b) => a.place - b.place || a.group - b.group) : rows;
  // Groups are named in the order in which they come, either way.
  return {
    rewards: ordered.map(({ reward }) => reward),
    group_ids: ordered.map(({ group }) => group),
    prompt_ids: ordered.map(({ prompt }) => prompt),
    lengths: ordered.map(({ length }) => length),
  };
}

/** What the trainer was asked, and its advantages without what rounding leaves. */
export async function ask(
  subject: Subject,
  drawn: Grouped,
): Promise<ReturnType<typeof flat> & { readonly advantages: readonly number[] }> {
  const args = flat(drawn);
  const { advantages } = await subject.ask('advantages', args);
  return { ...args, advantages: quieted(subject, args, advantages) };
}

/**
 * Equal rewards may leave the rounding of their mean divided by an epsilon (0.1 three times over 1e-8). Up to a
 * hundredth of what a real difference gives it is nobody's harm, and read as 0; without an epsilon it is near 1.
 */
const HARMLESS = 0.01;

/** Advantages divided by a tiny spread carry the rewards' rounding, magnified. */
export const rounding = (rewards: readonly number[]): number => Math.max(1, ...rewards.map(Math.abs));
