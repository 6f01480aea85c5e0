// Golden cases of the policy loss.
import type { Args } from '../../../protocol/message.ts';
import type { Matrix } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { GAPS, grid, knobCases, offered, PLAIN, SQUARE, tracks } from '../inputs/tracks.ts';

/** Far enough off the behaviour policy that ratios are clipped on both sides. */
const FAR = 4;
/** Beyond the second bound of a dual clip, which is 3 and more. */
const FARTHER = 16;

function lossArgs(mask: Matrix, spread = 1): Args<'loss'> {
  return { ...tracks(mask, spread), advantages: [1, -0.5], micro_batches: [[0, 1]] };
}

export const policyLossCases: readonly GoldenCase[] = [
  goldenCase('loss/one-batch', 'loss', () => lossArgs(PLAIN)),
  goldenCase('loss/clipped-ratios', 'loss', () => lossArgs(PLAIN, FAR)),
  goldenCase('loss/gap-of-a-tool', 'loss', () => lossArgs(GAPS)),
  goldenCase('loss/far-ratios', 'loss', () => lossArgs(PLAIN, FARTHER)),
  goldenCase('loss/row-without-tokens', 'loss', () =>
    lossArgs(PLAIN.map((row, b) => (b === 1 ? row.map(() => 0) : row))),
  ),
  goldenCase('loss/as-many-rows-as-columns', 'loss', () => ({ ...lossArgs(SQUARE), prompt_width: 4 })),
  goldenCase('loss/on-policy', 'loss', () => lossArgs(PLAIN, 0)),
  goldenCase(
    'loss/micro-batches',
    'loss',
    (world) => offered('loss', 'micro_batches', world) ?? { ...lossArgs(PLAIN), micro_batches: [[0], [1]] },
  ),
  goldenCase(
    'loss/two-ranks',
    'loss',
    (world) => offered('loss', 'ranks', world) ?? { ...lossArgs(PLAIN), ranks: [[0], [1]] },
  ),
  goldenCase(
    'loss/entropy-bonus',
    'loss',
    (world) => offered('loss', 'entropy', world) ?? { ...lossArgs(PLAIN), entropy: grid(2, 6, 1, 3) },
  ),
  goldenCase(
    'loss/beside-an-engine',
    'loss',
    (world) =>
      offered('loss', 'sampling_logprobs', world) ?? {
        ...lossArgs(PLAIN),
        sampling_logprobs: tracks(PLAIN, FAR).old_logprobs,
      },
  ),
  ...knobCases('loss', ({ hello }, settings) => {
    const entropy = hello.ops.loss?.entropy === true ? { entropy: grid(2, 6, 1, 3) } : {};
    return { ...lossArgs(PLAIN, FAR), ...entropy, settings };
  }),
];
