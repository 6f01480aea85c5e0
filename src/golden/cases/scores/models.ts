// Golden cases of what the trainer's own models say of rows: scores, values, rewards.
import { type GoldenCase, goldenCase } from '../../case.ts';
import { endedByPad, idsOf, otherArrangement } from '../../ids.ts';
import { BATCHES, NO_TOKENS, row, rows, threeRows } from '../inputs/model-rows.ts';

export const modelScoreCases: readonly GoldenCase[] = [
  goldenCase('score/two-rows', 'score', rows),
  goldenCase('score/three-rows', 'score', threeRows),
  goldenCase('score/one-row', 'score', row),
  goldenCase('score/packed', 'score', (world) => {
    if (world.hello.ops.score?.packed !== true) return 'op `score` does not score packed rows';
    const given = rows(world);
    return typeof given === 'string' ? given : { ...given, packed: true };
  }),
  ...BATCHES.map(([name, of]) =>
    goldenCase(`values/${name}`, 'values', (world) => {
      const given = of(world);
      return typeof given === 'string' ? given : { ...given, temperature: 1 };
    }),
  ),
  goldenCase('values/another-temperature', 'values', (world) => {
    if (world.hello.ops.values?.temperature !== true) return 'op `values` is asked at temperature 1 only';
    const given = rows(world);
    return typeof given === 'string' ? given : { ...given, temperature: 0.5 };
  }),
  goldenCase('reward_model/pad-is-a-stop', 'reward_model', (world) => {
    if (world.hello.tokens === undefined) return NO_TOKENS;
    const ids = endedByPad(idsOf(world));
    return (
      otherArrangement(world, 'pad is a stop') ?? {
        prompt_ids: [[ids.pad, ...ids.plain(0)], ids.plain(1)],
        completion_ids: [
          [...ids.plain(2), ids.pad],
          [...ids.plain(3, 4), ids.pad],
        ],
      }
    );
  }),
  ...BATCHES.map(([name, of]) => goldenCase(`reward_model/${name}`, 'reward_model', of)),
];
