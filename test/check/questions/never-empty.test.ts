// A loss that is 0/0 without a trained token is a question where nobody has said whether such a batch occurs; whatever else goes
// wrong without one is wrong.
import { expect, test } from 'vitest';
import { type Args, type ObjectTrainerSpec, type Ok, type Semantics, sftLoss } from '../../../src/index.ts';
import { legal, sum } from '../../conformance/legal.ts';
import { criticOfSome, policyOfSome, sftOfSome } from '../../conformance/losses/never-empty.ts';
import { judgedBy } from './judged.ts';

type Ops = ObjectTrainerSpec['ops'];

async function judged(ops: Ops, semantics: Semantics = {}) {
  const [op = ''] = Object.keys(ops);
  const id = `${op.replace('_', '-')}/zero-without-trained-tokens`;
  const [result] = await judgedBy([id], legal('losses', ops, { semantics }).trainer);
  const { verdict, failure, reason } = result ?? {};
  return { verdict, reason, answers: failure?.finding?.answers, sentence: failure?.finding?.sentence };
}

const QUESTION = ['"batches_always_train": true  (no batch is without a trained token)'];
const MEANS: readonly [string, Ops][] = [
  ['a policy loss with its weights', { loss: policyOfSome }],
  ['a loss of a critic', { value_loss: criticOfSome }],
  ['a supervised loss without weights', { sft_loss: sftOfSome(sftLoss) }],
];

test.each(MEANS)('%s that is 0/0 without a trained token is asked about', async (_, ops) => {
  expect(await judged(ops)).toMatchObject({
    verdict: 'ask',
    answers: QUESTION,
    sentence: 'Without a trained token the loss is NaN; nothing is trained, so it is 0.',
  });
});

test.each(MEANS)('one line says that %s never sees such a batch', async (_, ops) => {
  expect(await judged(ops, { batches_always_train: true })).toMatchObject({
    verdict: 'unsupported',
    reason: 'semantics.batches_always_train is true: no batch is without a trained token',
  });
});

test.each(MEANS)('where batches may train nothing, %s is wrong', async (_, ops) => {
  expect(await judged(ops, { batches_always_train: false })).toMatchObject({
    verdict: 'fail',
    answers: undefined,
  });
});

const tokensOf = ({ completion_mask: mask }: Args<'loss'>): number => sum(mask.flat());
/** What a correct policy loss answers, and another answer where no token is trained. */
const otherwise =
  (nothing: (zeros: number[][]) => Ok<'loss'>) =>
  (args: Args<'loss'>): Ok<'loss'> =>
    tokensOf(args) > 0 ? policyOfSome(args) : nothing(args.completion_mask.map((row) => row.map(() => 0)));
const filled = (rows: number[][], value: number): number[][] => rows.map((row) => row.map(() => value));

test.each<[string, Ops]>([
  ['a sum over masked tokens, divided by 0', { loss: otherwise(() => ({ loss: Number.POSITIVE_INFINITY })) }],
  [
    'a loss of 0 whose gradient is NaN, as of torch.where',
    { loss: otherwise((zeros) => ({ loss: 0, loss_weights: filled(zeros, Number.NaN) })) },
  ],
  ['a constant', { loss: otherwise((zeros) => ({ loss: 0.5, loss_weights: zeros })) }],
  [
    'a gradient of tokens that are not trained beside a loss of NaN',
    { loss: otherwise((zeros) => ({ loss: Number.NaN, loss_weights: filled(zeros, 0.25) })) },
  ],
  ['a loss that is NaN with trained tokens, too', { sft_loss: (): Ok<'sft_loss'> => ({ loss: Number.NaN }) }],
])('%s is wrong, and no question', async (_, ops) => {
  expect(await judged(ops)).toMatchObject({ verdict: 'fail', answers: undefined });
});

test.each<[string, Ops]>([
  ['0', { loss: otherwise((zeros) => ({ loss: 0, loss_weights: zeros })) }],
  ['0 without weights', { sft_loss: (args) => ({ loss: sftOfSome(sftLoss)(args).loss || 0 }) }],
  [
    'minus 0',
    { value_loss: (args) => (sum(args.completion_mask.flat()) > 0 ? criticOfSome(args) : { loss: -0 }) },
  ],
])('a loss of %s holds', async (_, ops) => {
  expect(await judged(ops)).toMatchObject({ verdict: 'pass' });
});
