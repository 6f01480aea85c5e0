// Golden cases of rewards: texts and lengths in, scores out.
import type { World } from '../../../check/property.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { idsOf } from '../../ids.ts';
import { block } from '../inputs/tags.ts';

const rewarded: readonly GoldenCase[] = [
  goldenCase('reward/right-and-wrong', 'reward', (world) => {
    const { samples = [] } = world.hello.ops.reward ?? {};
    if (samples.length === 0) return 'op `reward` declares no samples';
    const rows = samples.flatMap(({ prompt, reference, right, wrong }) =>
      [right, wrong].map((completion) => ({ prompt, reference, completion })),
    );
    return rewardArgs(world, rows);
  }),
  goldenCase('reward/no-answer', 'reward', (world) => {
    const [sample] = world.hello.ops.reward?.samples ?? [];
    if (sample === undefined) return 'op `reward` declares no samples';
    const { prompt, reference } = sample;
    return rewardArgs(
      world,
      ['', 'I do not know.', '!!!!'].map((completion) => ({ prompt, reference, completion })),
    );
  }),
  goldenCase('reward/twins', 'reward', (world) => {
    const [sample] = world.hello.ops.reward?.samples ?? [];
    if (sample === undefined) return 'op `reward` declares no samples';
    const { prompt, reference, right } = sample;
    return rewardArgs(
      world,
      [right, right].map((completion) => ({ prompt, reference, completion })),
    );
  }),
  goldenCase('overlong_penalty/no-buffer', 'overlong_penalty', () => ({
    lengths: [3, 8, 9],
    max_length: 8,
    buffer: 0,
  })),
  goldenCase('overlong_penalty/none-beyond-the-limit', 'overlong_penalty', () => ({
    lengths: [3, 5],
    max_length: 8,
    buffer: 4,
  })),
  goldenCase('overlong_penalty/around-the-limit', 'overlong_penalty', () => ({
    lengths: [0, 4, 5, 7, 8, 9, 20],
    max_length: 8,
    buffer: 4,
  })),
  goldenCase('overlong_penalty/another-limit', 'overlong_penalty', () => ({
    lengths: [9, 10, 11],
    max_length: 10,
    buffer: 2,
  })),
];

interface Graded {
  readonly prompt: string;
  readonly reference: string;
  readonly completion: string;
}

function rewardArgs(world: World, rows: readonly Graded[]) {
  const { plain } = idsOf(world);
  return {
    prompts: rows.map(({ prompt }) => prompt),
    completions: rows.map(({ completion }) => completion),
    references: rows.map(({ reference }) => reference),
    // Tokens of the text where they are known, otherwise so many ids.
    completion_ids: rows.map(
      ({ completion }, at) => world.tokenizer?.encode(completion) ?? plain(...Array(at + 1).keys()),
    ),
  };
}

const formats: readonly GoldenCase[] = [
  goldenCase('format_score/well-formed', 'format_score', ({ hello }) => {
    const has = hello.ops.format_score ?? {};
    return { completions: [`${block(has, 'think', '2 + 3 is 5')}\n${block(has, 'answer', '5')}`] };
  }),
  goldenCase('format_score/out-of-form', 'format_score', ({ hello }) => {
    const has = hello.ops.format_score ?? {};
    const [think, answer] = [block(has, 'think', 'so'), block(has, 'answer', '5')];
    return { completions: ['5', think, `${answer}\n${think}`, `${think}\n${answer}\n!!!`, ''] };
  }),
];

/** Rows a group, where the trainer is not fixed to another number. */
const GROUP = 3;

/** Groups of these rewards, each repeated to its size; the first row of the last one was cut off and is long. */
function filterArgs({ hello }: World, ...groups: readonly (readonly number[])[]) {
  const size = hello.ops.filter_rollouts?.group_size ?? GROUP;
  const rows = groups.flatMap((rewards, group) =>
    Array.from({ length: size }, (_, at) => ({ reward: rewards[at % rewards.length] ?? 0, group, at })),
  );
  const isCut = (row: { readonly group: number; readonly at: number }): boolean =>
    row.group === groups.length - 1 && row.at === 0;
  return {
    rewards: rows.map(({ reward }) => reward),
    group_ids: rows.map(({ group }) => group),
    lengths: rows.map((row) => (isCut(row) ? 12 : 5)),
    truncated: rows.map((row) => Number(isCut(row))),
    max_length: 8,
    min_reward: -0.7,
    max_reward: 1.2,
  };
}

const filters: readonly GoldenCase[] = [
  goldenCase('filter_rollouts/equal-rewards', 'filter_rollouts', (world) =>
    filterArgs(world, [0.5, 0.25], [1], [-0.5], [-0.5, 0.5]),
  ),
  goldenCase('filter_rollouts/cut-off-and-out-of-bounds', 'filter_rollouts', (world) =>
    filterArgs(world, [-1, 0.5], [2, 1.5], [0.25, 0]),
  ),
];

export const rewardCases: readonly GoldenCase[] = [...rewarded, ...formats, ...filters];
