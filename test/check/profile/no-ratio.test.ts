// Losses without a ratio, of which only the value is answered: advantages times log-probabilities, as REINFORCE has them.
import { expect, test } from 'vitest';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type Args, objectTrainer, type Semantics } from '../../../src/index.ts';
import { k1, k3 } from './profiled.ts';

type Kl = (logprob: number, ref: number) => number;
/** Tokens of the row, tokens of the batch, rows: the weight of a token. */
type Factor = (row: number, batch: number, rows: number) => number;

const overTokens: Factor = (_, batch) => 1 / batch;
const overRows: Factor = (row, _, rows) => 1 / (rows * row);

async function measured(factor: Factor, kl: Kl = () => 0, sign = -1): Promise<Semantics> {
  const loss = (args: Args<'loss'>): { loss: number } => {
    const counts = args.completion_mask.map((mask) => mask.filter((on) => on === 1).length);
    const all = counts.reduce((sum, each) => sum + each, 0);
    let total = 0;
    for (const [b, mask] of args.completion_mask.entries())
      for (const [t, on] of mask.entries()) {
        if (on !== 1) continue;
        const logprob = args.logprobs[b]?.[t] ?? 0;
        const own = sign * (args.advantages[b] ?? 0) * logprob + kl(logprob, args.ref_logprobs[b]?.[t] ?? 0);
        total += own * factor(counts[b] ?? 1, all, counts.length);
      }
    return { loss: total };
  };
  const trainer = objectTrainer({
    hello: {
      protocol: 1,
      name: 'reinforce',
      dtype: 'float64',
      ops: { loss: {} },
      layout: { alignment: 'token', span: 'row' },
      semantics: { ratio_level: 'none' },
    },
    ops: { loss },
  });
  return (await measureUndeclared({ trainer, tokenizer: undefined })).semantics;
}

test.each<[string, Factor, Kl | undefined, Semantics]>([
  ['over all tokens', overTokens, undefined, { loss_aggregation: 'token-mean', kl_coef: 0 }],
  ['over rows', overRows, undefined, { loss_aggregation: 'seq-mean-token-mean', kl_coef: 0 }],
  ['a constant', () => 1 / 64, undefined, { loss_aggregation: 'token-sum-norm', loss_norm: 64, kl_coef: 0 }],
  [
    'over all tokens, with k3',
    overTokens,
    (logprob, ref) => 0.04 * k3(logprob, ref),
    { loss_aggregation: 'token-mean', kl_estimator: 'k3', kl_coef: 0.04 },
  ],
  [
    'over rows, with k1',
    overRows,
    (logprob, ref) => 0.125 * k1(logprob, ref),
    { loss_aggregation: 'seq-mean-token-mean', kl_estimator: 'k1', kl_coef: 0.125 },
  ],
])('a loss %s is measured', async (_, factor, kl, expected) => {
  expect(await measured(factor, kl)).toMatchObject(expected);
});

test.each<[string, Factor, Kl | undefined, number | undefined]>([
  ['that rises with what pays', overTokens, undefined, 1],
  ['divided by one token more', (_, batch) => 1 / (batch + 1), undefined, undefined],
  ['with the KL the wrong way round', overTokens, (logprob, ref) => 0.04 * k3(ref, logprob), undefined],
  ['that rewards the KL', overTokens, (logprob, ref) => -0.04 * k3(logprob, ref), undefined],
])('a loss %s fits no formula', async (_, factor, kl, sign) => {
  const { loss_aggregation: aggregation, kl_coef: coefficient } = await measured(factor, kl, sign);
  expect(aggregation === undefined || coefficient === undefined).toBe(true);
});
