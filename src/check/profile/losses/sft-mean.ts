// What the supervised loss of a token is, and whether it is a mean over all labelled tokens or over rows of each row's mean. What
// it does with micro-batches is sft-loss.ts's business.
import { rowMeanSftLoss, sftLoss } from '../../../reference/index.ts';
import { bandOf } from '../../numbers.ts';
import { draw, misfitOf, type Probe } from '../probe.ts';
import { effectPairs } from './policy.ts';
import { ask, batches, LEAST, labelsOf, type SftBatch, VOCABULARY } from './sft-loss.ts';

const OBJECTIVES = { nll: '', dft: ', weighted by their probability (DFT)' } as const;
const MEANS = {
  'token-mean': 'the mean over all labelled tokens',
  'seq-mean-token-mean': "the mean over rows of each row's mean",
} as const;

export const sftMean: Probe<SftBatch> = {
  id: 'sft_mean',
  items: ['sft_objective', 'sft_aggregation'],
  ops: ['sft_loss'],
  variants: async () =>
    (['nll', 'dft'] as const).flatMap((sft_objective) =>
      (['token-mean', 'seq-mean-token-mean'] as const).map((sft_aggregation) => ({
        name: MEANS[sft_aggregation] + OBJECTIVES[sft_objective],
        items: { sft_objective, sft_aggregation },
      })),
    ),
  cases: (_, drawn) => draw(batches(), LEAST + drawn),
  async fits(subject, given, variants) {
    const observed = await ask(subject, given, [given.trained.map((_, row) => row)]);
    const labels = labelsOf(given);
    const band = bandOf(subject, VOCABULARY);
    return variants.map(({ items }) => {
      // Every row of these batches has labels: whether empty ones count does not show.
      const expected =
        items.sft_aggregation === 'token-mean'
          ? sftLoss(given.logits, labels, items.sft_objective)
          : rowMeanSftLoss(given.logits, labels, 'skip', items.sft_objective);
      return misfitOf(effectPairs(observed, expected), band.allowed);
    });
  },
};
