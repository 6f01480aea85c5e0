// What could not be read of a gradient is said with its reason, and is no weight of 0.
import { expect, test } from 'vitest';
import { partlyBlind } from '../../src/trace/blindness.ts';
import { addedUp } from '../../src/trace/unread.ts';
import { endOf, forwardOf, modelOf, processOf, recordedLedger, stepOf, trainedOf } from './recorded.ts';

const ROWS = [
  [5, 6, 7],
  [8, 9, 10],
];

const ledgerWith = (unread?: Readonly<Record<string, unknown>>) =>
  recordedLedger([
    [
      processOf(),
      modelOf(),
      forwardOf(ROWS),
      trainedOf(
        [
          { column: 0, target: 6, weight: 0.25, residual: 0 },
          { column: 2, target: 11, residual: 0 },
          { row: 1, column: 0, target: 9, weight: 0.25, residual: 0 },
          { row: 1, column: 2, target: 12, residual: 0 },
        ],
        unread === undefined ? {} : { unread },
      ),
      stepOf(),
      endOf(),
    ],
  ]);

test('a weight that was not read is said with its reason, once for all rows of a forward pass', () => {
  const [sentence, ...others] = partlyBlind(ledgerWith({ value: 2 }));
  expect(sentence).toMatch(/^At 2 of 4 trained positions the weight is not known \(`\?`\).*not kept.*head=/);
  expect(others).toEqual([]);
  expect(ledgerWith({ value: 2 }).rows[0]?.trained[3]).toMatchObject({ target: 11, weight: undefined });
});

test('each reason has a sentence of its own', () => {
  const sentences = partlyBlind(ledgerWith({ faint: 1, temperature: 1, search: 1, twins: 1, sure: 1 }));
  expect(new Set(sentences).size).toBe(5);
});

test('nothing is said where all was read', () => {
  expect(partlyBlind(ledgerWith())).toEqual([]);
});

test('counts of a damaged trace are passed over', () => {
  const counts = addedUp([
    { value: 2 },
    undefined,
    null,
    { value: -1, faint: 'x', twins: 1.5, other: 3 },
    { value: 1 },
  ]);
  expect(counts).toEqual({ value: 3 });
});
