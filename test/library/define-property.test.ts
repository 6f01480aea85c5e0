import { describe, expect, test } from 'vitest';
import { defineProperty, fc } from '../../properties/library.ts';

const sketch = {
  title: 'It is so.',
  why: 'It matters.',
  ops: ['kl'],
  given: () => fc.nat(),
  check: async () => undefined,
} as const;

describe('what a property of a user may leave out', () => {
  test('level and bugs', () => {
    expect(defineProperty({ ...sketch, id: 'mask/mine' })).toMatchObject({ level: 'must', catches: [] });
  });

  test.each([
    ['mask/mine', 'mask'],
    ['house/mine', 'kl'],
  ])('the stage of %s is %s', (id, stage) => {
    expect(defineProperty({ ...sketch, id }).stage).toBe(stage);
  });

  test('and what it says wins', () => {
    const property = defineProperty({ ...sketch, id: 'mask/mine', level: 'may', stage: 'loss' });
    expect(property).toMatchObject({ level: 'may', stage: 'loss' });
  });
});

test.each(['mine', 'mask/', 'mask/with space', 'mask/*', 'a,b/c'])('the id %j is refused', (id) => {
  expect(() => defineProperty({ ...sketch, id })).toThrow(/must be like "mask\/prompt-is-never-trained"/);
});

test('a property that asks nothing is refused', () => {
  expect(() => defineProperty({ ...sketch, id: 'mask/mine', ops: [] })).toThrow('`ops` names no op');
});
