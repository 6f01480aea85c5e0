// What is said of a formula that could be compared with none, by what was measured of it.
import { expect, test } from 'vitest';
import type { Probed } from '../../../src/check/profile/reading.ts';
import { unknownFormulas } from '../../../src/check/profile/unknown.ts';
import type { World } from '../../../src/index.ts';

const world = { hello: { ops: { value_loss: {} } }, semantics: {} } as unknown as World;
const fitting = (...remaining: { name: string; items: object }[]): readonly Probed[] =>
  [
    { probe: { ops: ['value_loss'], items: [] }, reading: { state: 'fits', remaining } },
  ] as unknown as readonly Probed[];

test('what fits is named, as far as it says something of the formula', () => {
  const [doubt] = unknownFormulas(
    world,
    { value_clip: null, value_aggregation: 'token-mean' },
    fitting({ name: '0.5 times the squared error', items: { value_loss_factor: 0.5 } }),
  );
  expect(doubt).toMatchObject({
    weight: 'note',
    sentence:
      'Op `value_loss` was compared with no formula. The measured variant fits 0.5 times the squared error: declare value_loss_factor.',
  });
});

test('where nothing that fits says anything of it, that is said', () => {
  const [doubt] = unknownFormulas(
    world,
    {},
    fitting({ name: 'values not clipped', items: { value_clip: null } }),
  );
  expect(doubt?.sentence).toBe(
    'Op `value_loss` was compared with no formula. The measured variant tells too little of it: declare value_loss_factor, value_clip, value_aggregation.',
  );
});
