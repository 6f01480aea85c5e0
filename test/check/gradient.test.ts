// The slopes of an answered loss: a range that holds the gradient wherever it is one, and no other number.
import { describe, expect, test } from 'vitest';
import { slopeRanges, slopesAlongAgree } from '../../src/check/gradient.ts';
import type { Subject } from '../../src/check/property.ts';
import type { Args } from '../../src/protocol/message.ts';

/** One trained token behind a prompt of one. */
const at = (logprob: number): Args<'loss'> => ({
  logprobs: [[0, logprob]],
  old_logprobs: [[0, -2]],
  ref_logprobs: [[0, -2]],
  completion_mask: [[0, 1]],
  prompt_width: 1,
  advantages: [1],
  micro_batches: [[0]],
});
const subjectOf = (loss: (logprob: number) => number): Subject =>
  ({
    hello: { protocol: 1, name: 'x', dtype: 'float64', ops: {} },
    ask: async (_: string, args: Args<'loss'>) => ({ loss: loss(args.logprobs[0]?.[1] ?? Number.NaN) }),
  }) as unknown as Subject;

async function holds(loss: (logprob: number) => number, logprob: number, weight: number): Promise<boolean> {
  const args = at(logprob);
  const [[prompt, range] = []] = await slopeRanges(subjectOf(loss), args, loss(logprob), [[0, weight]]);
  expect(prompt).toBeUndefined();
  if (range === undefined) throw new Error('no range for the trained token');
  return weight >= range.least - range.slack && weight <= range.most + range.slack;
}

const ratio = (logprob: number): number => Math.exp(logprob + 2);
const clipped = (logprob: number): number => -Math.min(ratio(logprob), 1.2);

test('the slope of a smooth loss is in its range, and two hundredths beside it are not', async () => {
  expect(await holds((p) => -ratio(p), -1.5, -ratio(-1.5))).toBe(true);
  expect(await holds((p) => -ratio(p), -1.5, -1.02 * ratio(-1.5))).toBe(false);
  expect(await holds((p) => -ratio(p), -1.5, ratio(-1.5))).toBe(false);
});

test('within a step of a corner, either side is believed, and nothing else', async () => {
  const near = Math.log(1.2) - 2 - 1 / 128;
  expect(await holds(clipped, near, -ratio(near))).toBe(true);
  expect(await holds(clipped, near + 1 / 64, 0)).toBe(true);
  expect(await holds(clipped, near, ratio(near))).toBe(false);
});

test('a corner that bends the loss no more than an exponential does is one, too', async () => {
  const withDistance = (p: number): number => -ratio(p) + 0.04 * Math.abs(p + 2);
  const near = -2 - 1 / 2048;
  expect(await holds(withDistance, near, -ratio(near) - 0.04)).toBe(true);
  expect(await holds(withDistance, near, -ratio(near) - 0.08)).toBe(false);
  expect(await holds(withDistance, near, -ratio(near) + 0.08)).toBe(false);
});

describe('along two directions', () => {
  const COLUMNS = 6;
  const logprobs = [0, -0.5, -1, -1.5, -2, -2.5];
  const right = logprobs.map((value, column) => (column === 0 ? 0 : Math.exp(value / 4) * (column - 3.5)));
  const args: Args<'loss'> = {
    logprobs: [logprobs],
    old_logprobs: [logprobs],
    ref_logprobs: [logprobs],
    completion_mask: [logprobs.map((_, column) => (column === 0 ? 0 : 1))],
    prompt_width: 1,
    advantages: [1],
    micro_batches: [[0]],
  };
  const lossOf = ([row = []]: readonly (readonly number[])[]): number =>
    row.reduce(
      (sum, value, column) => sum + (column === 0 ? 0 : 4 * Math.exp(value / 4) * (column - 3.5)),
      0,
    );
  const subject = {
    hello: { protocol: 1, name: 'x', dtype: 'float64', ops: {} },
    ask: async (_: string, asked: Args<'loss'>) => ({ loss: lossOf(asked.logprobs) }),
  } as unknown as Subject;
  const agree = (weights: readonly number[]): Promise<boolean> =>
    slopesAlongAgree(subject, args, lossOf(args.logprobs), [[...weights]]);
  const swapped = (one: number, other: number): number[] =>
    right.map((weight, column) => right[column === one ? other : column === other ? one : column] ?? weight);

  test('the gradient agrees', async () => {
    expect(await agree(right)).toBe(true);
  });

  test('no other one does: a token that is off, weights that changed places, or moved by one or two columns', async () => {
    for (let column = 1; column < COLUMNS; column++) {
      expect(await agree(right.with(column, -(right[column] ?? 0)))).toBe(false);
      for (let other = column + 1; other < COLUMNS; other++)
        expect(await agree(swapped(column, other)), `${column} for ${other}`).toBe(false);
    }
    for (const by of [1, 2])
      expect(await agree(right.map((_, column) => right[column - by] ?? 0)), `by ${by}`).toBe(false);
  });
});
