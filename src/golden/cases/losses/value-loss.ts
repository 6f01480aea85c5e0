// Golden cases of a critic's loss.
import type { Args } from '../../../protocol/message.ts';
import type { Matrix } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { GAPS, grid, offered, PLAIN, PROMPT_WIDTH } from '../inputs/tracks.ts';

/** Values that have moved by `moved` at least since sampling, towards their returns and away from them. */
function valueArgs(completion_mask: Matrix, moved = 0.125): Args<'value_loss'> {
  const values = grid(2, 6, -1, 7);
  return {
    values,
    old_values: values.map((row, b) => row.map((value, t) => value - moved * ((b + t) % 3 === 0 ? -1 : 1))),
    returns: grid(2, 6, 1, 5),
    completion_mask,
    prompt_width: PROMPT_WIDTH,
    micro_batches: [[0, 1]],
  };
}

export const valueLossCases: readonly GoldenCase[] = [
  goldenCase('value_loss/one-batch', 'value_loss', () => valueArgs(PLAIN)),
  // Beyond the clips in use, 0.2 and 0.5.
  goldenCase('value_loss/far-values', 'value_loss', () => valueArgs(PLAIN, 0.75)),
  goldenCase('value_loss/as-at-sampling', 'value_loss', () => valueArgs(PLAIN, 0)),
  goldenCase('value_loss/gap-of-a-tool', 'value_loss', () => valueArgs(GAPS, 0.75)),
  goldenCase('value_loss/row-without-tokens', 'value_loss', () =>
    valueArgs(PLAIN.map((row, b) => (b === 1 ? row.map(() => 0) : row))),
  ),
  goldenCase(
    'value_loss/micro-batches',
    'value_loss',
    (world) =>
      offered('value_loss', 'micro_batches', world) ?? { ...valueArgs(PLAIN), micro_batches: [[0], [1]] },
  ),
  goldenCase(
    'value_loss/two-ranks',
    'value_loss',
    (world) => offered('value_loss', 'ranks', world) ?? { ...valueArgs(PLAIN), ranks: [[0], [1]] },
  ),
];
