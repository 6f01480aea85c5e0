// Passes over a data set: their order, and what of their rows is in no step.
import { TEXTS } from '../data.ts';
import type { Cases, CleanCase } from '../kinds.ts';

const order = (way: string): CleanCase => ({
  words: `steps/orders.py --data {data} --way ${way}`,
  data: TEXTS,
  options: '--steps 4 --strict',
});
const skipped = (way: string, says?: RegExp): CleanCase => ({
  words: `steps/skipped.py --data {data} --way ${way}`,
  data: TEXTS,
  options: '--steps 3 --strict',
  ...(says === undefined ? {} : { says }),
});

export const passes: Cases = {
  clean: {
    ...Object.fromEntries(
      ['epoch', 'sequential', 'unshuffled', 'one-generator', 'peek'].map((way) => [
        `two passes: ${way}`,
        order(way),
      ]),
    ),
    ...Object.fromEntries(
      (
        [
          ['none', undefined],
          ['validated', undefined],
          ['overflow', /1 forward pass \(2 rows, from step 1, forward pass 1, row 0\) were set to nothing/],
          ['norm-too-large', /Before step 2 the gradients of 1 forward pass \(2 rows/],
          ['overflow-before', /No backward pass reached 2 rows that the model was called with, from step 1/],
          [
            'iterations',
            /1 batch was taken from the loader, and no model was called with it: number 1, .* \(of 2 rows\)/,
          ],
          ['filtered', /2 batches were taken from the loader, .* with them: number 1, 3, counted from 0/],
          ['scaler', /left step 1 out, as a gradient was infinite or NaN: its 2 rows \(from step 1, row 0\)/],
        ] as const
      ).map(([way, says]) => [`what is skipped: ${way}`, skipped(way, says)]),
    ),
  },
  faulty: {
    ...Object.fromEntries(
      (
        [
          ['forgotten', /The sampler is at epoch 0 in both: call its set_epoch/],
          ['forgotten-workers', /though DistributedSampler shuffles/],
          ['forgotten-behind-a-peek', /begins before step 2 has the order of an earlier one/],
          ['seeded-anew', /though RandomSampler shuffles\. The random numbers begin anew with each pass/],
          ['generator-anew', /the first 8 rows are the same/],
        ] as const
      ).map(([way, says]) => [
        `two passes in one order: ${way}`,
        { ...order(way), options: '--steps 4', found: 'loader/passes-have-other-orders', says },
      ]),
    ),
    'a step whose gradients are set to nothing': {
      ...skipped('not-stepped'),
      found: 'update/gradients-reach-the-step',
      says: /Step 1 trains nothing/,
    },
  },
};
