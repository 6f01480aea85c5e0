// Is the supervised loss a mean over all labelled tokens, or over rows of each row's mean. What it does with
// micro-batches is sft-loss.ts's business.
import { rowMeanSftLoss, sftLoss } from '../../../reference/index.ts';
import { bandOf } from '../../numbers.ts';
import { draw, misfitOf, type Probe } from '../probe.ts';
import { effectPairs } from './policy.ts';
import { ask, batches, LEAST, labelsOf, type SftBatch, VOCABULARY } from './sft-loss.ts';

export const sftMean: Probe<SftBatch> = {
  id: 'sft_mean',
  items: ['sft_aggregation'],
  ops: ['sft_loss'],
  variants: async () => [
    { name: 'the mean over all labelled tokens', items: { sft_aggregation: 'token-mean' } },
    { name: "the mean over rows of each row's mean", items: { sft_aggregation: 'seq-mean-token-mean' } },
  ],
  cases: (_, drawn) => draw(batches(), LEAST + drawn),
  async fits(subject, given, variants) {
    const observed = await ask(subject, given, [given.trained.map((_, row) => row)]);
    const labels = labelsOf(given);
    const band = bandOf(subject, VOCABULARY);
    return variants.map(({ items }) => {
      const overTokens = items.sft_aggregation === 'token-mean';
      // Every row of these batches has labels: whether empty ones count does not show.
      const expected = overTokens
        ? sftLoss(given.logits, labels)
        : rowMeanSftLoss(given.logits, labels, 'skip');
      return misfitOf(effectPairs(observed, expected), band.allowed);
    });
  },
};
