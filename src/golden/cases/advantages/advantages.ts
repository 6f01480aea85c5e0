// Golden cases of advantages: rewards and groups in, advantages out.
import type { World } from '../../../check/property.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { knobCases, offered } from '../inputs/tracks.ts';

type Ops = World['hello']['ops'];
/** Rows a group, where the trainer is not fixed to another number. */
const GROUP = 3;
const sizeOf = (ops: Ops): number => ops.advantages?.group_size ?? GROUP;

/** Eighths, no two of eight next to each other alike. */
function rewardsOf(groups: number, ops: Ops): number[] {
  return Array.from({ length: groups * sizeOf(ops) }, (_, at) => ((at * 3) % 8) / 8);
}

function groupsOf(groups: number, ops: Ops): { group_ids: number[]; prompt_ids: number[][] } {
  const group_ids = Array.from({ length: groups * sizeOf(ops) }, (_, at) => Math.floor(at / sizeOf(ops)));
  return { group_ids, prompt_ids: group_ids.map((group) => [FIRST_PROMPT + group, FIRST_PROMPT]) };
}

/** Ids that only tell prompts apart. */
const FIRST_PROMPT = 5;

export const advantageCases: readonly GoldenCase[] = [
  goldenCase('advantages/two-groups', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/equal-rewards', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops).map((reward, at) => (at < sizeOf(ops) ? 0.5 : reward)),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/right-or-wrong', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops).map((_, at) => (at % sizeOf(ops) === 0 ? 1 : 0)),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/interleaved-groups', 'advantages', ({ hello: { ops } }) => {
    if (ops.advantages?.interleaved_groups !== true)
      return 'op `advantages` takes groups that stand together';
    const group_ids = rewardsOf(2, ops).map((_, at) => at % 2);
    return {
      rewards: rewardsOf(2, ops),
      group_ids,
      prompt_ids: group_ids.map((group) => [FIRST_PROMPT + group, FIRST_PROMPT]),
    };
  }),
  goldenCase('advantages/two-ranks', 'advantages', (world) => {
    const { ops } = world.hello;
    const rows = rewardsOf(2, ops).map((_, at) => at);
    // Every group has rows on both.
    const [even, odd] = [rows.filter((at) => at % 2 === 0), rows.filter((at) => at % 2 === 1)];
    return (
      offered('advantages', 'ranks', world) ?? {
        rewards: rewardsOf(2, ops),
        ...groupsOf(2, ops),
        ranks: [even, odd],
      }
    );
  }),
  goldenCase('advantages/small-differences', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops).map((reward) => 0.5 + reward / 8),
    ...groupsOf(2, ops),
  })),
  goldenCase('advantages/one-prompt-twice', 'advantages', ({ hello: { ops } }) => {
    const { group_ids, prompt_ids } = groupsOf(2, ops);
    return { rewards: rewardsOf(2, ops), group_ids, prompt_ids: prompt_ids.map(() => [FIRST_PROMPT]) };
  }),
  goldenCase('advantages/unequal-lengths', 'advantages', ({ hello: { ops } }) => ({
    rewards: rewardsOf(2, ops),
    ...groupsOf(2, ops),
    lengths: rewardsOf(2, ops).map((_, at) => 1 + ((at * 3) % 5)),
  })),
  goldenCase('advantages/groups-of-one', 'advantages', ({ hello: { ops } }) =>
    ops.advantages?.groups_of_one === true
      ? { rewards: [1, 0.25], group_ids: [0, 1], prompt_ids: [[FIRST_PROMPT], [FIRST_PROMPT + 1]] }
      : 'op `advantages` takes groups of several rows',
  ),
  goldenCase('clip_advantages/both-sides', 'clip_advantages', () => ({
    advantages: [0.5, -7, 5, 5.5, 0, -0.25],
    limit: 5,
  })),
  goldenCase('clip_advantages/nothing-beyond', 'clip_advantages', () => ({
    advantages: [0.5, -1],
    limit: 2,
  })),
  ...knobCases('advantages', ({ hello: { ops } }, settings) => ({
    rewards: rewardsOf(2, ops),
    ...groupsOf(2, ops),
    settings,
  })),
];
