// Golden cases of trajectories of several turns: what the model said, what a tool said, and where each turn ended.
import type { World } from '../../../check/property.ts';
import type { Args } from '../../../protocol/message.ts';
import type { Ids } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { type CaseIds, idsOf, otherArrangement, SEVERAL_STOPS } from '../../ids.ts';
import { offered } from '../inputs/tracks.ts';

/** Ids of a text that no tokenizer would give for it, each character alone: what goes through text comes back as others. */
export function unmerged({ tokenizer }: World): Ids | string {
  if (tokenizer === undefined)
    return 'no tokenizer is named (hello.tokenizer, or `tokenizer` in the configuration)';
  return ['t', 'h', 'e', ' ', 't', 'h', 'e'].flatMap((character) => tokenizer.encode(character));
}

const STOPPED = 'stop';

function trajectoryArgs({ plain, stop, stops }: CaseIds): Args<'trajectory'> {
  return {
    prompt_ids: plain(0, 1),
    turns: [
      { role: 'assistant', ids: [...plain(2), stop(0)], logprobs: [-0.5, -0.25], finish_reason: STOPPED },
      { role: 'tool', ids: plain(3, 4), logprobs: [], finish_reason: 'none' },
      {
        role: 'assistant',
        ids: [...plain(5, 6), stop(0)],
        logprobs: [-1, -0.125, -0.75],
        finish_reason: STOPPED,
      },
    ],
    advantage: 0.5,
    eos_token_ids: stops,
  };
}

function resumeArgs({ plain, stop, stops }: CaseIds): Args<'partial_rollout'> {
  return {
    prompt_ids: [plain(0, 1), plain(2)],
    partial_ids: [plain(3, 4, 5), plain(6)],
    partial_logprobs: [[-0.5, -0.25, -1], [-0.75]],
    partial_versions: [[3, 3, 4], [4]],
    sampled_ids: [plain(7, 8, 9), [...plain(10), stop(0)]],
    sampled_logprobs: [
      [-0.125, -2, -1.5],
      [-0.25, -0.0625],
    ],
    rescored_logprobs: [[-0.625, -0.375, -1.25], [-1]],
    version: 5,
    max_new_tokens: 5,
    eos_token_ids: stops,
  };
}

export const turnCases: readonly GoldenCase[] = [
  goldenCase('partial_rollout/two-policies-before', 'partial_rollout', (world) => resumeArgs(idsOf(world))),
  goldenCase('partial_rollout/nothing-so-far', 'partial_rollout', (world) => ({
    ...resumeArgs(idsOf(world)),
    partial_ids: [[], []],
    partial_logprobs: [[], []],
    partial_versions: [[], []],
    rescored_logprobs: [[], []],
  })),
  goldenCase('trajectory/two-turns-and-a-tool', 'trajectory', (world) => trajectoryArgs(idsOf(world))),
  goldenCase('trajectory/cut-at-its-length', 'trajectory', (world) => {
    const ids = idsOf(world);
    const args = trajectoryArgs(ids);
    return {
      ...args,
      turns: [
        ...args.turns.slice(0, 2),
        { role: 'assistant', ids: ids.plain(5, 6), logprobs: [-1, -0.125], finish_reason: 'length' },
      ],
    };
  }),
  goldenCase('trajectory/first-turn-cut', 'trajectory', (world) => {
    const ids = idsOf(world);
    const args = trajectoryArgs(ids);
    return {
      ...args,
      turns: [
        { role: 'assistant', ids: ids.plain(5, 6), logprobs: [-1, -0.125], finish_reason: 'length' },
        ...args.turns.slice(1),
      ],
    };
  }),
  goldenCase('trajectory/tokens-behind-the-stop', 'trajectory', (world) => {
    const ids = idsOf(world);
    if (world.hello.ops.trajectory?.after_stop !== 'any')
      return 'op `trajectory` takes only padding after a stop token';
    const args = trajectoryArgs(ids);
    const turn = {
      role: 'assistant',
      ids: [...ids.plain(2), ids.stop(0), ...ids.plain(7)],
      logprobs: [-0.5, -0.25, -2],
      finish_reason: STOPPED,
    } as const;
    return { ...args, turns: [turn, ...args.turns.slice(1)] };
  }),
  goldenCase('trajectory/a-tool-says-too-much', 'trajectory', (world) => {
    const ids = idsOf(world);
    const args = trajectoryArgs(ids);
    return (
      offered('trajectory', 'max_tool_tokens', world) ?? {
        ...args,
        turns: args.turns.map((turn) =>
          turn.role === 'tool' ? { ...turn, ids: ids.plain(3, 4, 7, 0, 1) } : turn,
        ),
        max_tool_tokens: 2,
      }
    );
  }),
  goldenCase(
    'trajectory/turns-with-rewards',
    'trajectory',
    (world) =>
      offered('trajectory', 'turn_rewards', world) ?? {
        ...trajectoryArgs(idsOf(world)),
        turn_rewards: [-0.25, 0, 1],
      },
  ),
  goldenCase('trajectory/ids-that-text-would-merge', 'trajectory', (world) => {
    const ids = idsOf(world);
    const split = unmerged(world);
    if (typeof split === 'string') return split;
    const said = [...split, ids.stop(0)];
    const turn = {
      role: 'assistant',
      ids: said,
      logprobs: said.map((_, at) => -(at + 1) / 8),
      finish_reason: STOPPED,
    } as const;
    return { ...trajectoryArgs(ids), turns: [turn] };
  }),
  goldenCase('trajectory/several-stops', 'trajectory', (world) => {
    const ids = idsOf(world, SEVERAL_STOPS);
    const args = trajectoryArgs(ids);
    const [first, second] = args.turns;
    if (first === undefined || second === undefined) return args;
    return (
      otherArrangement(world, 'several stops', 'trajectory') ?? {
        ...args,
        turns: [{ ...first, ids: [...ids.plain(2), ids.stop(1)] }, second, ...args.turns.slice(2)],
      }
    );
  }),
];
