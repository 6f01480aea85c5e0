// A loss of one's own weighs its tokens as it likes, some of them not at all, but each of them toward its label: a gradient that is
// 0 in every batch is none.
import { expect, test } from 'vitest';
import { type Args, objectTrainer, type PropertyResult, type Semantics } from '../../../src/index.ts';
import { sftLoss } from '../../../src/reference/index.ts';
import { judgedBy } from './judged.ts';

type Weight = (label: number, column: number, row: readonly number[]) => number;

async function judged(weight: Weight, semantics: Semantics, plain = false): Promise<PropertyResult> {
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'own', ops: { sft_loss: {} }, semantics },
    ops: {
      sft_loss: ({ labels, logits }: Args<'sft_loss'>) => ({
        loss: plain ? sftLoss(logits, labels).loss : 1,
        loss_weights: labels.map((row) => row.map((label, t) => (t === 0 ? 0 : weight(label, t, row)))),
      }),
    },
  });
  const [result] = await judgedBy(['sft-loss/gradient-exactly-where-labels-are'], trainer);
  if (result === undefined) throw new Error('it was not judged');
  return result;
}

const OWN: Semantics = { own_formulas: ['sft_loss'], loss_is_descended: false };
const labels = (row: readonly number[]): number => row.filter((label) => label !== -100).length;
const isLast: Weight = (_, column, row) => Number(row.findLastIndex((label) => label !== -100) === column);

test.each<[string, Weight, string]>([
  ['weights of its own on the labelled tokens', (label, t) => (label === -100 ? 0 : -0.1 - 0.01 * t), 'pass'],
  ['no weight on every second label', (label, t) => (label === -100 || t % 2 === 0 ? 0 : -0.1), 'pass'],
  [
    'no weight on labels that are alone',
    (label, _, row) => (label === -100 || labels(row) < 2 ? 0 : -0.1),
    'pass',
  ],
  ['no gradient at all', () => 0, 'fail'],
  ['a gradient on what is ignored', () => -0.1, 'fail'],
  ['a gradient on what is ignored alone', (label) => (label === -100 ? -0.1 : 0), 'fail'],
  ['a gradient away from the labels', (label) => (label === -100 ? 0 : 0.1), 'fail'],
  [
    'a gradient away from one label',
    (label, ...at) => (label === -100 ? 0 : isLast(label, ...at) - 0.5),
    'fail',
  ],
  ['weights that are not numbers', (label) => (label === -100 ? 0 : Number.NaN), 'fail'],
])('%s', async (_, weight, verdict) => {
  expect((await judged(weight, OWN)).verdict).toBe(verdict);
});

test('the token that is named is one that is wrong', async () => {
  const away = await judged((label, ...at) => (label === -100 ? 0 : isLast(label, ...at) - 0.5), OWN);
  expect(away.failure?.finding?.sentence).toMatch(
    /^Token \d+ of row \d+ has label \d+ and gradient 0\.5; towards its label it is below 0\.$/,
  );
  const idle = await judged(() => 0, OWN);
  expect(idle.failure?.finding?.sentence).toMatch(
    /has label \d+ and gradient 0; no label has one, in any batch\.$/,
  );
  const ignored = await judged(() => -0.1, OWN);
  expect(ignored.failure?.finding?.sentence).toMatch(/has label -100 and gradient -0\.1; 0 is right\.$/);
});

test.each<[string, Weight, boolean, string]>([
  ['weights of its own', (label, t) => (label === -100 ? 0 : -0.1 - 0.01 * t), false, 'ask'],
  [
    'labels without weight in a loss that is none of the known ones',
    (label, t) => (label === -100 || t % 2 === 0 ? 0 : -0.1),
    false,
    'ask',
  ],
  [
    'labels without weight in the plain loss',
    (label, t) => (label === -100 || t % 2 === 0 ? 0 : -0.1),
    true,
    'fail',
  ],
  ['no gradient at all', () => 0, false, 'fail'],
])('undeclared: %s', async (_, weight, plain, verdict) => {
  const result = await judged(weight, {}, plain);
  expect(result.verdict).toBe(verdict);
  const { answers } = result.failure?.finding ?? {};
  expect(answers?.some((line) => line.startsWith('"own_formulas": ["sft_loss"]')) ?? false).toBe(
    verdict === 'ask',
  );
});
