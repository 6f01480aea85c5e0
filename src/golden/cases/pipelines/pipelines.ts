// Golden cases of pipelines of several losses: segments and settings in, decisions out.
import type { World } from '../../../check/property.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { idsOf } from '../../ids.ts';

const segment = (world: World, at: number, reward: number) => {
  const { plain, stop } = idsOf(world);
  return {
    prompt_ids: plain(at, at + 1),
    completion_ids: [...plain(at + 2), ...plain(at + 3).slice(0, at % 2), stop(0)],
    reward,
  };
};

type Segments = (world: World) => readonly ReturnType<typeof segment>[];
const TWO: Segments = (world) => [segment(world, 0, 1), segment(world, 5, -0.5)];

function contractCase(name: string, losses: 'all' | 'first', segments = TWO): GoldenCase {
  return goldenCase(`contract/${name}`, 'contract', (world) => {
    const { orders = [], losses: known = [] } = world.hello.ops.contract ?? {};
    const order = losses === 'all' ? orders[0] : orders.at(-1);
    if (order === undefined || known.length === 0) return 'op `contract` declares no orders or no losses';
    return {
      order,
      segments: segments(world),
      enabled: losses === 'all' ? known : known.slice(0, 1),
    };
  });
}

const MODES = ['parallel', 'sequential', 'alternating'] as const;

export const pipelineCases: readonly GoldenCase[] = [
  contractCase('every-loss', 'all'),
  contractCase('one-loss-in-another-order', 'first'),
  contractCase('one-segment', 'all', (world) => [segment(world, 1, 1)]),
  contractCase('equal-rewards', 'all', (world) => [segment(world, 0, 1), segment(world, 5, 1)]),
  contractCase('no-segments', 'all', () => []),
  ...MODES.map((mode) =>
    goldenCase(`schedule/${mode}`, 'schedule', ({ hello }) => {
      const { modes = [], losses = [] } = hello.ops.schedule ?? {};
      if (losses.length === 0 || !modes.includes(mode)) return `op \`schedule\` has no mode ${mode}`;
      // Every second loss is due at every second iteration.
      const frequencies = Object.fromEntries(losses.map((loss, at) => [loss, 1 + (at % 2)]));
      return { mode, iterations: 4, frequencies, enabled: losses, optional: [] };
    }),
  ),
  goldenCase('schedule/one-loss', 'schedule', ({ hello }) => {
    const { modes = [], losses = [], always_enabled: always = [] } = hello.ops.schedule ?? {};
    const [mode] = modes;
    if (always.some((loss) => loss !== losses.at(-1))) return 'op `schedule` has no loss alone';
    if (mode === undefined || losses.length === 0) return 'op `schedule` declares no modes or no losses';
    const frequencies = Object.fromEntries(losses.map((loss) => [loss, 1]));
    return { mode, iterations: 2, frequencies, enabled: losses.slice(-1), optional: [] };
  }),
  goldenCase('schedule/switched-on-in-another-order', 'schedule', ({ hello }) => {
    const { modes = [], losses = [] } = hello.ops.schedule ?? {};
    if (losses.length < 2 || !modes.includes('sequential'))
      return 'op `schedule` has no two losses in mode sequential';
    const enabled = losses.toReversed();
    const frequencies = Object.fromEntries(enabled.map((loss) => [loss, 1]));
    return { mode: 'sequential', iterations: 2, frequencies, enabled, optional: [] };
  }),
  goldenCase('schedule/optional-trainers', 'schedule', ({ hello }) => {
    const { modes = [], losses = [], optional_trainers = {} } = hello.ops.schedule ?? {};
    const [mode] = modes;
    const optional = [...new Set(Object.values(optional_trainers))];
    if (mode === undefined || losses.length === 0 || optional.length === 0)
      return 'op `schedule` declares no optional trainers';
    const frequencies = Object.fromEntries(losses.map((loss) => [loss, 1]));
    return { mode, iterations: 2, frequencies, enabled: losses, optional };
  }),
  goldenCase('segments/rows', 'segment_rows', (world) => ({
    segments: [segment(world, 0, 1), segment(world, 5, -0.5), segment(world, 5, -0.5)],
  })),
  goldenCase('segments/one-row', 'segment_rows', (world) => ({ segments: [segment(world, 2, 0.25)] })),
  goldenCase('segments/unroll', 'unroll', () => unrolled([0, 1])),
  goldenCase('segments/unroll-behind-the-end', 'unroll', () => unrolled([2, 0])),
];

const unrolled = (starts: readonly number[]) => ({
  observations: [
    [3, 4, 5, 6],
    [7, 8, 9],
  ],
  actions: [
    [11, 12, 13],
    [14, 15],
  ],
  rewards: [
    [0.25, 0.5, 1],
    [-0.5, 0.75],
  ],
  starts,
  unroll_steps: 2,
});
