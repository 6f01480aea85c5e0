// Bugs of rows: padding, truncation, packing.
import type { Bug } from '../bug.ts';

export const rows: readonly Bug[] = [
  {
    id: 'PAD-06',
    what: 'Padding on the left is made by reversing, along the wrong axis.',
    seen: ['meta-pytorch/torchtune#1523'],
    todo: 'Pad on the left by filling a tensor from the right, row by row; if you flip, flip the time axis, before and after, and try a batch that is not square.',
  },
  {
    id: 'PAD-08',
    what: 'Rows are put back in order for some tensors of the batch and not for others.',
    seen: ['verl-project/verl#1440'],
    todo: 'Undo the order with the inverse permutation for every tensor of the batch, in one helper; a mask or an old log-probability left out is trained against another row.',
  },
  {
    id: 'PAD-09',
    what: 'A sentinel under the mask is also a legal value, and is computed with.',
    seen: ['allenai/open-instruct#1817', 'yaof20/Flash-RL#19'],
    todo: 'Give masked places a value that cannot be meant (0 in a float next to an explicit mask, -100 in labels), and select with `torch.where` before you compute.',
  },
  {
    id: 'MSK-11',
    what: 'Ids and mask are cut to different limits.',
    seen: ['PrimeIntellect-ai/verifiers@66f9391aa'],
    todo: 'Cut ids, mask and everything beside them with one slice, in one place, and compare their shapes afterwards.',
  },
  {
    id: 'TRN-01',
    what: 'Keeping the end of a row that begins flush left keeps its padding.',
    seen: ['huggingface/trl#3398'],
    todo: 'Remove padding, cut, pad again. Slicing `[:, -n:]` of a row that is flush left keeps its padding.',
  },
  {
    id: 'TRN-03',
    what: 'The beginning of the prompt is cut away in silence.',
    seen: [
      'PrimeIntellect-ai/prime-rl#1986',
      'huggingface/trl#3646',
      'verl-project/verl#583',
      'verl-project/verl@ff1379450',
      'vllm-project/vllm#43260',
    ],
    todo: 'Count the prompts that are too long and drop them, or cut history by whole turns and keep system prompt and BOS. Do not let the tokeniser cut on the left in silence.',
  },
  {
    id: 'TRN-04',
    what: 'Truncation takes the whole answer, and the row is trained on nothing.',
    seen: [
      'huggingface/trl#6668',
      'huggingface/trl#6671',
      'huggingface/trl#5826',
      'huggingface/trl#5662',
      'opendilab/LightZero@0ad3fdf0',
    ],
    todo: 'Cut the prompt before the answer, drop rows without trained tokens, and count them. A row of only -100 must not reach the loss.',
  },
  {
    id: 'TRN-05',
    what: 'Ids are cut, and the arrays beside them are not.',
    seen: [
      'modelscope/ms-swift#6961',
      'verl-project/verl#6089',
      'axolotl-ai-cloud/axolotl#3401',
      'OpenRLHF/OpenRLHF@2134835b',
    ],
    todo: 'Cut all columns of an example with one slice: ids, labels, mask, positions, weights. Compare lengths afterwards.',
  },
  {
    id: 'TRN-06',
    what: 'The budget for tokens counts something twice and keeps too little.',
    seen: ['allenai/open-instruct#1601', 'axolotl-ai-cloud/axolotl@2dac1edf7'],
    todo: 'Write the budget as one expression (limit - prompt - specials) and try lengths of limit - 1, limit and limit + 1.',
  },
  {
    id: 'PCK-03',
    what: 'The first token of a packed example is trained as the continuation of the one before.',
    seen: ['huggingface/transformers#31629', 'meta-pytorch/torchtune#2613'],
    todo: 'Set the label of the first token of each packed example to -100: nothing in its own example predicts it.',
  },
  {
    id: 'PCK-04',
    what: 'Packed rows exceed their limit or lose examples.',
    seen: ['axolotl-ai-cloud/axolotl#2332'],
    todo: 'Recompute lengths after filtering, place each example in one row, and check that the row sums stay below the limit and every example comes once.',
  },
  {
    id: 'PCK-07',
    what: 'Unpacking assumes one side of padding, or lengths that are whole numbers.',
    seen: ['allenai/open-instruct#1486'],
    todo: 'Unpack by stored lengths, as whole numbers, and try both sides of padding: unpacking what was packed must give the examples back.',
  },
  {
    id: 'PCK-08',
    what: 'Evaluation follows the packing switch of training.',
    seen: ['axolotl-ai-cloud/axolotl#3478'],
    todo: 'Give evaluation a packing switch of its own, off by default.',
    unshown:
      'It concerns how an evaluation run is configured; packing itself is checked in every configuration.',
  },
];
