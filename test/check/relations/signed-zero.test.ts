// A 0 that is written as -0 is the same number: whoever reads its sign bit, its text or its inverse is found, and correct code that
// looks alike is not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { drawSeed } from '../../../src/check/cases.ts';
import { runCase } from '../../../src/check/subject.ts';
import { type Args, AXES, type Ok, type Op, objectTrainer, unasked, worldOf } from '../../../src/index.ts';

const CASES = 25;
const SEED = 1;

type Answer<O extends Op> = (args: Args<O>) => Ok<O>;

/** Whether the property of this op fails in one of its cases. */
async function fails<O extends Op>(op: O, answer: Answer<O>): Promise<boolean> {
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'x', dtype: 'float64', ops: { [op]: {} } },
    ops: { [op]: answer },
  });
  const world = worldOf(trainer, undefined);
  const [property] = properties.filter(
    ({ id, ops }) => ops.length === 1 && ops[0] === op && id.endsWith('a-zero-has-no-sign'),
  );
  if (property === undefined) throw new Error(`no property asks it of ${op}`);
  let judged = 0;
  for (const given of fc.sample(property.given(world), { seed: drawSeed(SEED, property), numRuns: CASES })) {
    const outcome = await runCase(property, trainer, world, given);
    if (outcome.kind === 'fails') return true;
    if (outcome.kind === 'error') throw new Error(outcome.failure.message);
    if (outcome.kind === 'holds') judged++;
  }
  expect(judged).toBeGreaterThan(0);
  return false;
}

/** Each reward less the mean of its group. */
const centred = ({ rewards, group_ids: groups }: Args<'advantages'>): number[] =>
  rewards.map((reward, row) => {
    const own = rewards.filter((_, other) => groups[other] === groups[row]);
    return reward - own.reduce((sum, each) => sum + each, 0) / own.length;
  });

/** Groups that have two rewards by this key. */
const kept =
  (key: (reward: number) => unknown): Answer<'filter_rollouts'> =>
  ({ rewards, group_ids: groups }) => ({
    kept: rewards.flatMap((_, row) => {
      const own = rewards.filter((__, other) => groups[other] === groups[row]);
      return new Set(own.map(key)).size > 1 ? [row] : [];
    }),
  });

const isMinus = (x: number): boolean => 1 / x < 0;
const python = (x: number): string => (Object.is(x, -0) ? '-0.0' : String(x));

describe('is found', () => {
  test.each<[string, () => Promise<boolean>]>([
    ['rewards compared as texts', () => fails('filter_rollouts', kept(python))],
    ['the sign bit of a reward', () => fails('filter_rollouts', kept(isMinus))],
    [
      'an advantage whose sign is that of the reward',
      () =>
        fails('advantages', (args) => ({
          advantages: centred(args).map((x, row) => (isMinus(args.rewards[row] ?? 0) ? -x : x)),
        })),
    ],
    [
      'a limit by the inverse',
      () =>
        fails('clip_advantages', ({ advantages, limit }) => ({
          advantages: advantages.map((x) => (1 / x < -1 / limit ? -limit : Math.min(x, limit))),
        })),
    ],
    [
      'a value of -0 as one that is missing',
      () =>
        fails('returns', ({ rewards }) => ({
          returns: rewards.map((row) => row.map((x) => (Object.is(x, -0) ? Number.MIN_SAFE_INTEGER : x))),
        })),
    ],
    [
      'a score whose arc tangent is -180 degrees',
      () =>
        fails('reward_loss', ({ chosen_scores: chosen, rejected_scores: rejected }) => ({
          loss: chosen.reduce((sum, x, at) => sum + Math.atan2(x, -1) - (rejected[at] ?? 0), 0),
        })),
    ],
  ])('%s', async (_, found) => {
    expect(await found()).toBe(true);
  });
});

describe('is not found', () => {
  test.each<[string, () => Promise<boolean>]>([
    [
      'rewards compared as numbers',
      () =>
        fails(
          'filter_rollouts',
          kept((x) => x),
        ),
    ],
    [
      'texts of rounded rewards',
      () =>
        fails(
          'filter_rollouts',
          kept((x) => python(x + 0)),
        ),
    ],
    [
      'signs of rewards',
      () =>
        fails(
          'filter_rollouts',
          kept((x) => Math.sign(x) + 0),
        ),
    ],
    [
      'an answer that is -0 for -0',
      () => fails('clip_advantages', ({ advantages }) => ({ advantages: [...advantages] })),
    ],
    ['differences from a mean', () => fails('advantages', (args) => ({ advantages: centred(args) }))],
    [
      'a logarithm that is infinite at 0',
      () =>
        fails('reward_loss', ({ chosen_scores: chosen, rejected_scores: rejected }) => ({
          loss: chosen.reduce((sum, x, at) => sum - Math.log1p(Math.exp((rejected[at] ?? 0) - x)), 0),
        })),
    ],
  ])('%s', async (_, found) => {
    expect(await found()).toBe(false);
  });
});

test('every op with scores, rewards or values is asked', () => {
  const asked = (Object.keys(AXES) as Op[]).filter((op) => unasked(op, 'signed-zero') === undefined);
  expect(asked).toEqual([
    ...['filter_rollouts', 'token_rewards', 'gae', 'returns', 'whiten', 'clip_advantages', 'advantages'],
    ...['loss', 'value_loss', 'reward_loss', 'unroll'],
  ]);
});
