// Clipping of gradients: of which tensors, and when.
import { ANSWERS } from '../correct.ts';
import { PAIRS } from '../data.ts';
import type { Cases } from '../kinds.ts';

const data = { data: PAIRS, options: ANSWERS };
const LOOP = { ...data, words: 'steps/loop.py --data {data}' };
const SCHEDULE = { ...data, words: 'steps/schedule.py --data {data}' };

const with_ = (of: typeof LOOP, more: string): typeof LOOP => ({ ...of, words: `${of.words} ${more}` });
const CLIP = 'update/clipping-is-of-the-whole-gradient';

export const clips: Cases = {
  clean: {
    ...Object.fromEntries(
      ['clip-beside', 'clip-measured'].map((fault) => [
        `clipping of other tensors: ${fault}`,
        { ...with_(LOOP, `--fault ${fault}`), options: `${ANSWERS} --strict` },
      ]),
    ),
  },
  faulty: {
    'clipping of a generator that is used up': {
      ...with_(LOOP, '--fault clip-used-up'),
      found: CLIP,
      says: /was given no tensor/,
    },
    ...Object.fromEntries(
      (
        [
          [
            'clip-gradients',
            /was given 29 tensors in step \d, none of which has a gradient: it clips nothing/,
          ],
          [
            'clip-detached',
            /was given 29 tensors in step \d, none of which has a gradient: it clips nothing/,
          ],
          [
            'clip-other',
            /clip_grad_norm_ at \S+ was given 29 tensors in step \d, none of which has a gradient/,
          ],
          ['clip-copies', /was given 29 tensors in step \d, copies of those that its optimiser holds/],
        ] as const
      ).map(([fault, says]) => [
        `clipping of other tensors: ${fault}`,
        { ...with_(LOOP, `--fault ${fault}`), found: CLIP, says },
      ]),
    ),
    'clipping of a part': {
      ...with_(LOOP, '--fault clip-part'),
      found: CLIP,
      says: /given 28 of the 29 tensors.*lm_head\.weight/,
    },
    'clipping before the last backward pass': {
      ...with_(LOOP, '--fault clip-early'),
      found: CLIP,
      says: /after 1 of 2 backward passes/,
    },
    'clipping behind the step': {
      ...with_(LOOP, '--fault clip-behind'),
      found: CLIP,
      says: /is called after step 0/,
    },
    'clipping of scaled gradients': {
      ...with_(SCHEDULE, '--scaler --fault clip-scaled'),
      found: CLIP,
      says: /the gradient scaler's factor 1024 is still on them/,
    },
  },
};
