import { describe, expect, it } from 'vitest';
import { localSftLoss, rowMeanSftLoss, sftLoss } from '../../../src/reference/index.ts';

// Position t gives its tokens the odds 1 : t + 1, so that each shift of the labels gives another loss.
const odds = (length: number) => Array.from({ length }, (_, t) => [0, Math.log(t + 1)]);
const NAN_ROW = [Number.NaN, Number.NaN];

describe('sftLoss', () => {
  it('is the mean negative log-likelihood of the labels, each predicted one position earlier', () => {
    const { loss, weights, tokens } = sftLoss([odds(4)], [[-100, -100, 1, 0]]);
    expect(loss).toBeCloseTo(-(Math.log(2 / 3) + Math.log(1 / 4)) / 2, 14);
    expect(weights).toEqual([[0, 0, -0.5, -0.5]]);
    expect(tokens).toBe(2);
  });

  it('means over all trained tokens of the batch, not over rows', () => {
    const { loss } = sftLoss(
      [odds(3), odds(3)],
      [
        [-100, 1, 1],
        [-100, -100, 0],
      ],
    );
    expect(loss).toBeCloseTo(-(Math.log(1 / 2) + Math.log(2 / 3) + Math.log(1 / 3)) / 3, 14);
  });

  it('never trains the label of the first column', () => {
    expect(sftLoss([odds(2)], [[1, 0]])).toEqual(sftLoss([odds(2)], [[-100, 0]]));
  });

  it('reads no logits but those that predict a trained token', () => {
    const [first, second] = odds(2);
    const logits = [
      [NAN_ROW, second ?? [], NAN_ROW],
      [first ?? [], NAN_ROW, NAN_ROW],
    ];
    const { loss } = sftLoss(logits, [
      [-100, -100, 1],
      [-100, 0, -100],
    ]);
    expect(loss).toBeCloseTo(-(Math.log(2 / 3) + Math.log(1 / 2)) / 2, 14);
  });

  it('is 0 with 0 tokens when nothing is trained', () => {
    expect(sftLoss([odds(2)], [[1, -100]])).toEqual({ loss: 0, weights: [[0, 0]], tokens: 0 });
  });

  it('is NaN for a label outside the vocabulary', () => {
    expect(sftLoss([odds(2)], [[-100, 9]]).loss).toBeNaN();
  });
});

describe('localSftLoss', () => {
  it('averages the micro-batches however many tokens each trains', () => {
    const logits = [odds(3), odds(3)];
    const labels = [
      [-100, 1, 1],
      [-100, 0, -100],
    ];
    const split = localSftLoss(logits, labels, [[0], [1]]);
    const row = -(Math.log(1 / 2) + Math.log(2 / 3)) / 2;
    expect(split.loss).toBeCloseTo((row - Math.log(1 / 2)) / 2, 14);
    expect(split.weights).toEqual([
      [0, -0.25, -0.25],
      [0, -0.5, 0],
    ]);
    expect(split.tokens).toBe(3);
    expect(localSftLoss(logits, labels, [[0, 1]])).toEqual(sftLoss(logits, labels));
  });
});

it('the mean over rows weighs a short row like a long one, and an empty row as it is told', () => {
  const flat = [0, 0]; // log 2 for either token
  const sure = [0, Math.log(3)]; // -log(3/4) for token 1
  const logits = [
    [flat, flat, flat],
    [sure, flat, flat],
    [flat, flat, flat],
  ];
  const labels = [
    [-100, 1, 1],
    [-100, 1, -100],
    [-100, -100, -100],
  ];
  const rows = Math.log(2) + Math.log(4 / 3);
  expect(rowMeanSftLoss(logits, labels, 'count').loss).toBeCloseTo(rows / 3, 12);
  const skipped = rowMeanSftLoss(logits, labels, 'skip');
  expect(skipped.loss).toBeCloseTo(rows / 2, 12);
  expect(skipped.weights).toEqual([
    [0, -1 / 4, -1 / 4],
    [0, -1 / 2, 0],
    [0, 0, 0],
  ]);
});
