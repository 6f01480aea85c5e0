import { expect, test } from 'vitest';
import { bandOf, numberFinding, objectTrainer, worldOf } from '../../src/index.ts';

test('the note is whole sentences, whatever the parts end with', () => {
  const trainer = objectTrainer({ hello: { protocol: 1, name: 'toy', ops: {} }, ops: {} });
  const band = bandOf(worldOf(trainer, undefined));
  const pairs = [{ where: 'the loss', expected: 1, observed: 2 }];
  const { note } = numberFinding({
    kind: 'k',
    sentence: 's',
    band,
    pairs,
    note: 'declared: token-mean',
  });
  expect(note).toMatch(/^The trainer computes in float32.* of the value\. Declared: token-mean\.$/);
});
