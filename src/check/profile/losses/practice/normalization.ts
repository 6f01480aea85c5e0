// What practice does with the denominators of micro-batches.
import type { Semantics } from '../../../../vocabulary.ts';
import type { World } from '../../../property.ts';
import { AGGREGATION_OF, SHARE_DENOMINATORS } from '../../../support.ts';
import type { Practice } from '../../practice-row.ts';

export const NORMALIZATION_PRACTICE: readonly Practice[] = [
  {
    item: 'loss_normalization',
    weight: 'ask',
    beyond: 'local, under a mean over tokens',
    isBeyond: (value, found, { hello }) => value === 'local' && averagesTokens(found, hello),
    why: 'Each micro-batch has its own count of tokens: a mean of means over tokens weighs those of short micro-batches more (the gradient accumulation bug of 2024).',
    source: 'https://huggingface.co/blog/gradient_accumulation',
  },
  {
    item: 'loss_normalization',
    weight: 'note',
    beyond: 'local, under any other mean',
    isBeyond: (value, found, { hello }) => value === 'local' && !averagesTokens(found, hello),
    why: 'Each micro-batch has its own denominator: a token in a short micro-batch weighs more than one in a long one, and the loss depends on how the batch is split.',
    source: 'https://huggingface.co/blog/gradient_accumulation',
  },
];

/** Some loss is a mean over tokens. */
const averagesTokens = (found: Semantics, { ops }: World['hello']): boolean =>
  SHARE_DENOMINATORS.some((op) => ops[op] !== undefined && found[AGGREGATION_OF[op]] === 'token-mean');
