// Golden cases of the supervised loss.
import type { Args } from '../../../protocol/message.ts';
import { IGNORE_INDEX, type Matrix } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { ATTENTION, INPUT_IDS, logits } from '../inputs/logits.ts';

/** The labels of the last tokens, and none for the padding. */
const LABELS: Matrix = [
  [IGNORE_INDEX, IGNORE_INDEX, 2, 3, 1],
  [IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX, 2, 2],
];

const SPLITS = { micro_batches: 'micro-batches', ranks: 'two-ranks', shards: 'two-shards' } as const;

const sftArgs = (labels: Matrix): Args<'sft_loss'> => ({
  input_ids: INPUT_IDS,
  attention_mask: ATTENTION,
  labels,
  logits: logits(2, 5),
  micro_batches: [[0, 1]],
});

export const sftCases: readonly GoldenCase[] = [
  goldenCase('sft_loss/one-batch', 'sft_loss', () => sftArgs(LABELS)),
  goldenCase('sft_loss/every-token', 'sft_loss', () =>
    sftArgs(INPUT_IDS.map((ids, b) => ids.map((id, t) => (ATTENTION[b]?.[t] === 1 ? id : IGNORE_INDEX)))),
  ),
  goldenCase('sft_loss/row-without-labels', 'sft_loss', () =>
    sftArgs(LABELS.map((row, b) => (b === 1 ? row.map(() => IGNORE_INDEX) : row))),
  ),
  ...(['micro_batches', 'ranks', 'shards'] as const).map((name) =>
    goldenCase(`sft_loss/${SPLITS[name]}`, 'sft_loss', ({ hello }) => {
      if (hello.ops.sft_loss?.[name] !== true) return `op \`sft_loss\` does not take \`${name}\``;
      const args = sftArgs(LABELS);
      if (name === 'shards') return { ...args, shards: 2 };
      return name === 'ranks' ? { ...args, ranks: [[0], [1]] } : { ...args, micro_batches: [[0], [1]] };
    }),
  ),
];
