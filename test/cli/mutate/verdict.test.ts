// The exit code of a run whose time was over: what was tried is held to --at-least, and is a fair sample where it is enough.
import { expect, test } from 'vitest';
import type { MutateOptions } from '../../../src/cli/mutate/options.ts';
import { codeOf } from '../../../src/cli/mutate/verdict.ts';
import type { Judged, Mutation } from '../../../src/mutate/events.ts';
import { makeWorld } from '../world.ts';

/** So many found, surviving, and not yet tried. */
function mutation(found: number, survive: number, left: number): Mutation {
  const all = Array.from({ length: found + survive + left }, (_, at) => ({ id: String(at) }));
  const judged = all
    .slice(0, found + survive)
    .map(({ id }, at) => ({ id, outcome: at < found ? 'found' : 'survives' }) as unknown as Judged);
  return { start: { changes: all }, judged } as unknown as Mutation;
}

test.each([
  { left: 0, atLeast: 80, code: 0, says: '' },
  { left: 5, atLeast: undefined, code: 0, says: '' },
  {
    left: 5,
    atLeast: 80,
    code: 2,
    says: 'lossproof: the time ended after 10 reachable changes; at least 30 are needed to judge --at-least 80. Continue with --resume\n',
  },
  {
    left: 0,
    atLeast: 81,
    code: 1,
    says: 'lossproof: 80.0 % of the changes that are reached are found, --at-least 81\n',
  },
  {
    left: 5,
    atLeast: 81,
    code: 1,
    says: 'lossproof: 80.0 % of the changes that were tried and are reached are found, --at-least 81\n',
  },
])('8 of 10 found, $left not tried, --at-least $atLeast', ({ left, atLeast, code, says }) => {
  const world = makeWorld();
  const options = (atLeast === undefined ? {} : { atLeast }) as MutateOptions;
  expect(codeOf(mutation(8, 2, left), options, world.context)).toBe(code);
  expect(world.err()).toBe(says);
});

test('24 of 30 found are enough of a sample', () => {
  const world = makeWorld();
  expect(codeOf(mutation(24, 6, 300), { atLeast: 80 } as MutateOptions, world.context)).toBe(0);
  expect(world.err()).toBe('');
});

test('no time to try one', () => {
  const world = makeWorld();
  expect(codeOf(mutation(0, 0, 3), {} as MutateOptions, world.context)).toBe(2);
  expect(world.err()).toContain('there was no time to try a change');
});
