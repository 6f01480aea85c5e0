// Rows of joined series: complete, in order, however their points come.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinSteps } from '../../src/monitor/join.ts';

type Key = 'a' | 'b' | 'c';
const KEYS: readonly Key[] = ['a', 'b', 'c'];

function joined(points: readonly (readonly [Key, number, number])[]): string[] {
  const join = joinSteps<Key>();
  const rows = [...points.flatMap(([key, step, value]) => join.add(key, step, value)), ...join.end()];
  return rows.map(
    ({ step, values }) =>
      `${step}: ${[...values]
        .map((each) => each.join('='))
        .sort()
        .join(' ')}`,
  );
}

describe('joinSteps', () => {
  test('gives a row of each step, whatever the order within it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.shuffledSubarray([...KEYS], { minLength: 3 }), { minLength: 1, maxLength: 20 }),
        (orders) => {
          const points = orders.flatMap((keys, step) =>
            keys.map((key): [Key, number, number] => [key, step, step * 10]),
          );
          expect(joined(points)).toEqual(
            orders.map((_, step) => `${step}: a=${step * 10} b=${step * 10} c=${step * 10}`),
          );
        },
      ),
    );
  });

  test('hands a row on as soon as nothing is missing', () => {
    const join = joinSteps<Key>();
    join.add('a', 1, 1);
    join.add('b', 1, 1);
    expect(join.add('a', 2, 2).map(({ step }) => step)).toEqual([1]);
    expect(join.add('b', 2, 2).map(({ step }) => step)).toEqual([2]);
  });

  test('does not wait for a series that is logged now and then', () => {
    const join = joinSteps<Key>();
    for (const key of KEYS) join.add(key, 1, 1);
    const steps: number[] = [];
    for (let step = 2; step <= 6; step++)
      for (const key of ['a', 'b'] as const) steps.push(...join.add(key, step, 0).map((row) => row.step));
    expect(steps).toEqual([1, 2, 3, 4]);
  });

  test('keeps few rows open', () => {
    const join = joinSteps<Key>();
    let handed = 0;
    for (let step = 0; step < 1000; step++) handed += join.add('a', step, 0).length;
    expect(handed).toBeGreaterThan(990);
    for (let step = 0; step < 999; step++) expect(join.add('b', step, 0)).toEqual([]);
  });

  test('begins anew where the run was resumed at an earlier step', () => {
    expect(
      joined([
        ['a', 1, 1],
        ['b', 1, 1],
        ['a', 2, 2],
        ['b', 2, 2],
        ['a', 3, 3],
        ['a', 2, 20],
        ['b', 2, 20],
        ['a', 3, 30],
        ['b', 3, 30],
      ]),
    ).toEqual(['1: a=1 b=1', '2: a=2 b=2', '3: a=3', '2: a=20 b=20', '3: a=30 b=30']);
  });
});
