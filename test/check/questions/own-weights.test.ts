// A loss of one's own weighs its tokens as it likes, but each of them toward its label: a gradient that is 0 everywhere is none.
import { expect, test } from 'vitest';
import { type Args, objectTrainer } from '../../../src/index.ts';
import { judgedBy } from './judged.ts';

type Weight = (label: number, column: number) => number;

async function verdictOf(weight: Weight): Promise<string | undefined> {
  const trainer = objectTrainer({
    hello: {
      protocol: 1,
      name: 'own',
      ops: { sft_loss: {} },
      semantics: { own_formulas: ['sft_loss'], loss_is_descended: false },
    },
    ops: {
      sft_loss: ({ labels }: Args<'sft_loss'>) => ({
        loss: 1,
        loss_weights: labels.map((row) => row.map((label, t) => (t === 0 ? 0 : weight(label, t)))),
      }),
    },
  });
  const [result] = await judgedBy(['sft-loss/gradient-exactly-where-labels-are'], trainer);
  return result?.verdict;
}

test.each<[string, Weight, string]>([
  ['weights of its own on the labelled tokens', (label, t) => (label === -100 ? 0 : -0.1 - 0.01 * t), 'pass'],
  ['no gradient at all', () => 0, 'fail'],
  ['a gradient on what is ignored', () => -0.1, 'fail'],
  ['a gradient away from the labels', (label) => (label === -100 ? 0 : 0.1), 'fail'],
])('%s', async (_, weight, verdict) => {
  expect(await verdictOf(weight)).toBe(verdict);
});
