import { expect, test } from 'vitest';
import { inDtypeOf } from '../../src/check/numbers.ts';
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

const none = (): never => {
  throw new Error('never asked');
};
const mixed = objectTrainer({
  hello: {
    protocol: 1,
    name: 'a',
    dtype: 'float32',
    ops: { whiten: { dtype: 'bfloat16' }, kl: {}, gae: { dtype: 'float64' } },
  },
  ops: { whiten: none, kl: none, gae: none },
});

test.each([
  [['kl'], 'float32'],
  [['whiten'], 'bfloat16'],
  [['gae'], 'float64'],
  // What is compared is as coarse as the coarsest of both.
  [['whiten', 'gae'], 'bfloat16'],
  [['kl', 'gae'], 'float32'],
  [[], 'float32'],
] as const)('a property of %j is judged in %s', (ops, dtype) => {
  expect(inDtypeOf(worldOf(mixed, undefined), ops).hello.dtype).toBe(dtype);
});
