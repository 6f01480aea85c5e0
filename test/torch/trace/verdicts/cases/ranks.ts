// What several processes do with theirs: parameters, gradients, data and wrappers by rank; and what workers of a loader do.
import { HF } from '../correct.ts';
import { CHATS } from '../data.ts';
import { tokenMean } from '../exact.ts';
import type { Cases } from '../kinds.ts';

const ANSWERS = [
  'red',
  'blue and deep',
  'four',
  'it falls on the roof',
  'yes',
  'a long answer with many words in it',
  'no',
  'warm: 21 degrees',
  'salt',
  'at noon',
  'nobody knows that',
  'seven',
];
/** No two steps, and no two ranks of one, have rows in common. */
const ROWS = ANSWERS.map((content, at) => ({
  messages: [
    { role: 'user', content: `Question number ${at} of them` },
    { role: 'assistant', content },
  ],
}));

const LOADERS = 'ranks/loaders.py --data {data}';
const TWO = 'torchrun --nproc_per_node 2 ranks/train.py --data {data}';
const PARTS = 'torchrun --nproc_per_node 2 ranks/parallel.py --data {data}';
export const given = { data: ROWS, options: '--dataset {data} --tokenizer {qwen}' };
export const exact = tokenMean(ROWS);

export const ranks: Cases = {
  clean: {
    'DistributedDataParallel, with no_sync and clipping': {
      words: `${TWO} --accumulate 2 --clip 1`,
      ...given,
      exact,
    },
    'gradients reduced by hand to their mean, and clipped': {
      words: `${TWO} --by hand --clip 0.1`,
      ...given,
      exact,
    },
    'gradients added up by hand, of a loss that is divided by all': {
      words: `${TWO} --by sum`,
      ...given,
      exact,
    },
    'one rank that steps by the gradients of both': { words: `${TWO} --by server`, ...given, exact },
    'two trainings side by side': {
      words: `${TWO} --by apart`,
      ...given,
      says: /each trains a model, or a part of one, of its own/,
    },
    'FSDP2 on the processor': { words: `${TWO} --by fsdp2`, ...given, exact },
    'an optimiser that is sharded over the ranks': { words: `${TWO} --by zero`, ...given, exact },
    'local SGD by hand': {
      words: `${TWO} --by local`,
      ...given,
      says: /now and then, as in local SGD/,
      tells: 'made-anew',
    },
    'one batch that is overfitted': {
      words: `${TWO} --fault one-batch`,
      ...given,
      says: /All of ranks 0 and 1 train the same 2 rows, in every step/,
    },
    'tensor parallelism by DTensor': { words: `${PARTS} --by tensors`, ...given },
    FullyShardedDataParallel: { words: `${PARTS} --by fsdp`, ...given, exact },
    'FSDP2, clipped by the norm of the whole': { words: `${TWO} --by fsdp2 --clip 0.1`, ...given, exact },
    'FullyShardedDataParallel, clipped by its own method': {
      words: `${PARTS} --by fsdp --clip 0.1`,
      ...given,
      exact,
    },
    'FSDP2 with accumulation, clipped': {
      words: `${TWO} --by fsdp2 --clip 0.3 --accumulate 2`,
      ...given,
      exact,
    },
    'an expert for each rank, the rest reduced by hand': { words: `${PARTS} --by experts`, ...given, exact },
    'a rank that runs out of rows, inside of join()': {
      words: `${PARTS} --by join`,
      ...given,
      options: `${given.options} --keep-going`,
    },
    'local SGD by an averager of torch': {
      words: `${PARTS} --by averager`,
      ...given,
      says: /one of torch's averagers of parameters was made: local SGD/,
      tells: 'made-anew',
    },
    'gradients that are views of buckets': { words: `${PARTS} --by views`, ...given, exact },
    'tensor parallelism by hand': { words: `${PARTS} --by hand`, ...given },
    'workers that draw by themselves': { words: LOADERS, ...given },
    'a data set that is smaller than a batch': {
      words: HF,
      data: CHATS.slice(0, 1),
      options: `${given.options} --keep-going --strict`,
    },
    'a data set of one row, over and over': {
      words: `${LOADERS} --overfit`,
      ...given,
      says: /Steps 0 and 1 train the same 2 rows/,
    },
  },
  faulty: {
    'hooks of the wrapper lost by a cast': {
      words: `${TWO} --fault hooks-lost`,
      ...given,
      found: 'ranks/gradients-are-reduced',
      says: /At step 0, the optimisers of ranks 0 and 1 found other gradients: wte\.weight and 27 more of 28 tensors/,
    },
    'the model inside of the wrapper is called': {
      words: `${TWO} --fault bypassed`,
      ...given,
      found: 'ranks/wrapper-is-called',
      says: /None of the 2 forward passes before step 0 went through DistributedDataParallel/,
    },
    'every backward pass inside of no_sync': {
      words: `${TWO} --accumulate 2 --fault never-synced`,
      ...given,
      found: 'ranks/gradients-are-reduced',
      says: /At step 0, the optimisers of ranks 0 and 1 found other gradients: wte\.weight and 27 more of 28 tensors/,
    },
    'a reduction by hand before the last backward pass': {
      words: `${TWO} --by hand --accumulate 2 --fault early`,
      ...given,
      found: 'ranks/no-process-trains-alone',
      says: /no gradient is the same/,
    },
    'a layer that is made anew on one rank, inside of the wrapper': {
      words: `${TWO} --fault changed-behind`,
      ...given,
      found: 'ranks/replicas-begin-equal',
      says: /Before step 0, the parameters of ranks 0 and 1 are not the same: blocks\.0\.attention\.qkv\.weight of 28 tensors/,
    },
    'another weight decay on one rank': {
      words: `${TWO} --fault decay-one`,
      ...given,
      found: 'ranks/replicas-stay-equal',
      says: /Step 0 had the same parameters and the same gradients on ranks 0 and 1, and left others/,
    },
    'one rank in eval mode': {
      words: `${TWO} --fault eval-one`,
      ...given,
      found: 'ranks/settings-are-alike',
      says: /in train mode on rank 0 and in eval mode on rank 1/,
    },
    'a seed for each rank, and no broadcast': {
      words: `${TWO} --by hand --fault no-broadcast`,
      ...given,
      found: 'ranks/replicas-begin-equal',
      says: /Before step 0, the parameters of ranks 0 and 1 are not the same: wte\.weight and/,
    },
    ...Object.fromEntries(
      [
        `${TWO} --by fsdp2 --fault clip-local --clip 0.1`,
        `${TWO} --by fsdp2 --accumulate 2 --fault clip-local --clip 0.3`,
        `${PARTS} --by fsdp --fault clip-shards --clip 0.1`,
      ].map((words) => [
        `shards that are clipped by a norm of their own: ${words.split('--by ')[1]}`,
        {
          words,
          ...given,
          found: 'ranks/shards-are-clipped-by-one-norm',
          says: /gradients of rank \d are multiplied by [\d.e-]+ and those of rank \d by [\d.e-]+: not by one factor/,
        },
      ]),
    ),
    'clipping on one rank': {
      words: `${TWO} --by hand --clip 0.1 --fault clip-one`,
      ...given,
      found: 'ranks/gradients-are-reduced',
      says: /every gradient of rank 1 is 79\.\d+ times that of rank 0/,
    },
    'another learning rate on one rank': {
      words: `${TWO} --fault rate-one`,
      ...given,
      found: 'ranks/settings-are-alike',
      says: /rank 0 steps at a learning rate of 0\.001 and rank 1 at 0\.01/,
    },
    'the same rows on all ranks, under FSDP2': {
      words: `${TWO} --by fsdp2 --fault same-rows`,
      ...given,
      found: 'ranks/each-has-other-rows',
      says: /Every row of 2 steps/,
    },
    'some tensors left out of a reduction by hand': {
      words: `${TWO} --by hand --fault some-reduced`,
      ...given,
      found: 'ranks/gradients-are-reduced',
      says: /wte\.weight and 9 more of 28 tensors/,
    },
    'no reduction at all': {
      words: `${TWO} --by hand --fault not-reduced`,
      ...given,
      found: 'ranks/no-process-trains-alone',
      says: /begin with the same parameters, and no gradient is the same/,
    },
    'workers that each read the whole stream': {
      words: `${LOADERS} --fault whole-stream`,
      ...given,
      found: 'loader/batches-are-new',
      says: /Batches 0 and 1 of a loader with 2 workers are the same 2 rows: each worker makes the same/,
    },
    'a collator that keeps one row of two': {
      words: `${LOADERS} --fault first-only --workers 0`,
      ...given,
      found: 'loader/batches-are-new',
      says: /The loader fetches batches of 2 rows, and the model is called with one row/,
    },
    'workers that draw with one seed': {
      words: `${LOADERS} --fault one-seed`,
      ...given,
      found: 'loader/batches-are-new',
      says: /Batches 0 and 1 of a loader with 2 workers are the same 2 rows/,
    },
  },
};
