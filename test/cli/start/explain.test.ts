import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { bugs, bugsOf, threadUrl } from '../../../src/bugs/index.ts';
import { freeTokens } from '../../../src/check/needs.ts';
import { widthOf } from '../../../src/report/text/visible.ts';
import { choiceNames } from '../../../src/vocabulary/choices.ts';
import { ADDS_NOTHING, DROPS_NOTHING, makeWorld } from '../world.ts';

const CATCHES = { ...ADDS_NOTHING, catches: ['MSK-01'], needs: [freeTokens] };

test('a property is told with its op, its exceptions, its bugs, what to do and how to run it alone', async () => {
  const world = makeWorld([CATCHES, DROPS_NOTHING]);
  expect(await world.run('explain', 'mask/adds-nothing')).toBe(0);
  const [bug] = bugsOf(['MSK-01']);
  const told = world.out().replaceAll(/\s+/g, ' ');
  for (const piece of [
    `mask/adds-nothing should · stage collate`,
    'that it asks `',
    'Not judged where – the trainer is fixed to its special ids',
    `MSK-01 ${bug?.what} ${bug?.todo}`,
    threadUrl(bug?.seen[0] ?? ''),
    'npx lossproof explain MSK-01',
    'npx lossproof check --only mask/adds-nothing',
  ]) {
    expect(told).toContain(piece);
  }
  expect(world.out()).not.toContain('collate/');
});

test('a bug is told with all its threads and the properties that catch it', async () => {
  const world = makeWorld([CATCHES, DROPS_NOTHING]);
  expect(await world.run('explain', 'msk-01')).toBe(0);
  for (const thread of bugsOf(['MSK-01'])[0]?.seen ?? []) expect(world.out()).toContain(threadUrl(thread));
  expect(world.out()).toMatch(/Caught by\n {2}mask\/adds-nothing\n/);
});

test('stages, globs and several names are told one after the other', async () => {
  const world = makeWorld([CATCHES, DROPS_NOTHING]);
  expect(await world.run('explain', '*/*', 'KL-01')).toBe(0);
  expect(world.out().match(/^\S+ {2}(must|should|a bug)/gm)).toHaveLength(3);
});

test('--json gives the same as a list', async () => {
  const world = makeWorld([CATCHES]);
  expect(await world.run('explain', 'mask', 'MSK-01', '--json')).toBe(0);
  expect(JSON.parse(world.out())).toMatchObject([
    { kind: 'property', id: 'mask/adds-nothing', bugs: [{ id: 'MSK-01', caughtBy: ['mask/adds-nothing'] }] },
    {
      kind: 'bug',
      id: 'MSK-01',
      seen: expect.arrayContaining([
        { thread: 'OpenRLHF/OpenRLHF#235', url: threadUrl('OpenRLHF/OpenRLHF#235') },
      ]),
    },
  ]);
});

test('a choice is told by its name, and by that under which a run asks about it', async () => {
  for (const name of ['clip_low', 'loss/clip_low']) {
    const world = makeWorld();
    expect(await world.run('explain', name)).toBe(0);
    const told = world.out().replaceAll(/\s+/g, ' ');
    for (const piece of [
      'clip_low correct trainers differ in it the ratio is clipped below at 1 - this',
      'Ops whose answers show it loss',
      '"semantics": { "clip_low": 0.2 }',
      '– above 0.5, and clipped at all: The ratio may fall below half',
      'https://arxiv.org/abs/1707.06347',
    ])
      expect(told).toContain(piece);
  }
});

test('every choice can be told, within the width', async () => {
  const world = makeWorld();
  expect(await world.run('explain', ...choiceNames)).toBe(0);
  for (const line of world.out().split('\n'))
    if (!line.includes('https://')) expect(widthOf(line), line).toBeLessThanOrEqual(100);
  expect(world.out()).not.toContain('undefined');
});

test.each([
  ['loss/clip_lw', 'no choice is called "loss/clip_lw", did you mean "clip_low"?'],
  ['mask/add-nothing', 'no property is called "mask/add-nothing", did you mean "mask/adds-nothing"?'],
  ['msk-3', 'no bug is called "msk-3", did you mean "MSK-01"?'],
])('%s is refused with the nearest name', async (name, line) => {
  const world = makeWorld();
  expect(await world.run('explain', name)).toBe(2);
  expect(world.err()).toBe(`lossproof: ${line}\n`);
});

test('every property and every bug can be told, within the width, in words only where colour is off', async () => {
  const world = makeWorld(properties);
  expect(await world.run('explain', '*', ...bugs.map(({ id }) => id))).toBe(0);
  const lines = world.out().split('\n');
  for (const line of lines)
    if (!line.includes('https://')) expect(widthOf(line), line).toBeLessThanOrEqual(100);
  expect(world.out()).not.toContain('\u001b');
  expect(world.out()).not.toContain('undefined');
});
