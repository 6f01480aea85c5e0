// The share of two workers in `npm run bench:scaling`, on runs whose share is known: one that is not shared must not pass.
import { expect, test } from 'vitest';
import { type Pair, shareOf, type WorkersRun } from '../../scripts/bench/scaling/workers.ts';

const RUN: WorkersRun = {
  workers: 1,
  wall: 100,
  first: 10,
  engine: 20,
  trainers: [70],
  verdicts: ['a pass', 'b known'],
  runtime: '',
};
const pair = (wall: number, two: Partial<WorkersRun> = {}): Pair => [
  RUN,
  { ...RUN, workers: 2, wall, trainers: [50, 30], ...two },
];

test('one after the other is above the bound, whatever each trainer took', () => {
  expect(shareOf([pair(100), pair(98), pair(102)], 2).problems).toEqual([
    'two workers take 1.00 of the time of one, at most 0.6 is allowed',
  ]);
});

test('side by side is below it; what it is made of, and how little it could have been', () => {
  const { lines, problems } = shareOf([pair(58), pair(56), pair(90)], 2);
  expect(problems).toEqual([]);
  expect(lines.slice(2)).toEqual([
    '| 1 | 100.0 | 10.0 | 20.0 | 70.0 |',
    '| 2 | 58.0 | 10.0 | 20.0 | 50.0, 30.0 |',
    '',
    'By the clock two workers take 0.58 of the time of one, the median of 0.58, 0.56, 0.90; at most 0.6. With all of 2 cores busy from beginning to end it would be 0.50.',
  ]);
});

test('other verdicts are no share of the same run', () => {
  expect(shareOf([pair(50, { verdicts: ['a pass'] })], 2).problems).toEqual([
    'two workers come to other verdicts than one',
  ]);
});
