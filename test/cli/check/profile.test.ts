import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld, pythonCollate } from '../world.ts';

/** Advantages of plain TypeScript-free JavaScript, as a configuration may hold them. */
const config = (semantics: string, advantage: string): string => `
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const std = (values) => Math.sqrt(values.reduce((a, b) => a + (b - mean(values)) ** 2, 0) / (values.length - 1));
export default {
  trainer: {
    hello: { protocol: 1, name: 'mine', version: '2', dtype: 'float64', ops: { advantages: {} }, semantics: ${semantics} },
    ops: {
      advantages: ({ rewards, group_ids }) => ({
        advantages: rewards.map((reward, at) => {
          const group = rewards.filter((_, other) => group_ids[other] === group_ids[at]);
          return new Set(group).size === 1 ? 0 : ${advantage};
        }),
      }),
    },
  },
};`;
const GRPO = '(reward - mean(group)) / (std(group) + 1e-6)';

test('the table has item, declared, measured and what to say of them; all measured exits 0', async () => {
  const world = makeWorld();
  world.write('lossproof.config.mjs', config('{ advantage_ddof: 1 }', GRPO));
  expect(await world.run('profile')).toBe(0);
  const lines = world.out().split('\n');
  expect(lines[0]).toBe('mine 2: what it does where trainers legally differ');
  expect(lines[2]).toMatch(/^item +declared +measured$/);
  expect(world.out()).toMatch(/^ +advantage_scaling +– +group +\+ not declared$/m);
  expect(world.out()).toMatch(/^ +advantage_ddof +1 +1 +✓ as declared$/m);
  expect(world.out()).toMatch(/^ +advantage_epsilon +– +0\.000001 +\+ not declared$/m);
  // What no op shows is one line.
  expect(world.out()).toMatch(/^policy loss\n +· op not offered: `loss` \(policy_objective, [^)]+clip_low/m);
  expect(world.out()).toContain('"advantage_scaling": "group", "advantage_epsilon": 0.000001');
  expect(world.err()).toBe('lossproof: running the configuration lossproof.config.mjs\n');
});

test('a declared value that is not the measured one exits 1', async () => {
  const world = makeWorld();
  world.write('lossproof.config.mjs', config('{ advantage_ddof: 0 }', GRPO));
  expect(await world.run('profile')).toBe(1);
  expect(world.out()).toMatch(/^ +advantage_ddof +0 +1 +✗ DIFFERS from the declaration$/m);
  expect(world.out()).toContain('1 DIFFERS');
});

test('what no known variant fits is said with the closest', async () => {
  const world = makeWorld();
  world.write('lossproof.config.mjs', config('{}', '2 * reward'));
  expect(await world.run('profile')).toBe(0);
  expect(world.out().replaceAll(/\s+/g, ' ')).toMatch(
    /none of the known variants; closest \S*reward.*, off by \d/,
  );
});

test('--json writes the profile to a file beside the table, and - prints it alone', async () => {
  const world = makeWorld();
  world.write('lossproof.config.mjs', config('{}', GRPO));
  expect(await world.run('profile', '--json', 'profile.json')).toBe(0);
  expect(world.out()).toContain('what it does where trainers legally differ');
  const written = JSON.parse(readFileSync(join(world.folder, 'profile.json'), 'utf8'));
  expect(written.trainer.name).toBe('mine');
  expect(written.measured).toEqual({
    advantage_baseline: 'group-mean',
    advantage_scaling: 'group',
    advantage_ddof: 1,
    advantage_epsilon: 1e-6,
    advantage_epsilon_placement: 'std',
  });
  const ddof = written.items.find(({ item }: { item: string }) => item === 'advantage_ddof');
  expect(ddof).toMatchObject({ verdict: 'undeclared', measured: 1, words: 'not declared' });

  const alone = makeWorld();
  alone.write('lossproof.config.mjs', config('{}', GRPO));
  expect(await alone.run('profile', '--json', '-')).toBe(0);
  expect(JSON.parse(alone.out())).toEqual(written);
});

test('a file that cannot be written, and a trainer that shows no item, are no verdict', async () => {
  const world = makeWorld();
  world.write('lossproof.config.mjs', config('{}', GRPO));
  expect(await world.run('profile', '--json', 'no/such/folder.json')).toBe(2);
  expect(world.err()).toContain('cannot be written');
  const bare = makeWorld();
  bare.write('adapter.py', pythonCollate());
  expect(await bare.run('profile', '--', 'python3', 'adapter.py')).toBe(2);
  expect(bare.err()).toContain('nothing could be measured');
});

test('check holds an undeclared trainer to what was measured, and says so', async () => {
  const world = makeWorld(properties);
  world.write('lossproof.config.mjs', config('{ advantage_ddof: 1 }', GRPO));
  expect(await world.run('check', '--seed', '3', '--cases', '20')).toBe(0);
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain(
    'measured, not declared: advantage_baseline group-mean, advantage_scaling group, advantage_epsilon 0.000001, advantage_epsilon_placement std checking',
  );
});

test('--no-profile measures nothing and accepts what it accepted before', async () => {
  const world = makeWorld(properties);
  world.write('lossproof.config.mjs', config('{}', GRPO));
  expect(await world.run('check', '--seed', '3', '--cases', '20', '--no-profile')).toBe(0);
  expect(world.out()).not.toContain('measured, not declared');
});

test('a trainer that changes its formula with the batch fails what was measured, and replays as failing', async () => {
  const world = makeWorld(properties);
  // Sample deviation in groups of four, population deviation in others: each batch alone fits a known variant.
  const mixed =
    '(reward - mean(group)) / (std(group) * (group.length === 4 ? 1 : Math.sqrt((group.length - 1) / group.length)) + 1e-6)';
  world.write('lossproof.config.mjs', config('{}', mixed));
  const only = ['--seed', '3', '--only', 'advantages/equal-the-declared-formula'];
  expect(await world.run('check', ...only)).toBe(1);
  const id = /replay (\w+)/.exec(world.out())?.[1] ?? '';
  expect(await world.run('replay', id)).toBe(1);
  expect(await world.run('check', ...only, '--no-corpus', '--no-profile')).toBe(0);
});
