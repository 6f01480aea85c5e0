// What `twin` must find, and where: faults of the scripts of this folder. docs/detection.md counts the bugs that they show.
import { HF, LORA, OWN_LOOP, type Told } from './runs.ts';

export interface Fault {
  readonly name: string;
  readonly command: string;
  readonly options?: readonly string[];
  readonly change: string;
  /** Where the runs part. */
  readonly where: Partial<Told>;
  /** Of its sentences, in order. */
  readonly says?: readonly string[];
  /** The bug of the catalogue that it is. */
  readonly bug?: string;
}

const RESUME = ['--save-args', '--steps 2 --save ck.pt', '--resume-args', '--resume ck.pt'];
const RANKS = '--- python -m torch.distributed.run --standalone --nproc-per-node 2 OWN --batch 2';

export const OF_LOOPS: readonly Fault[] = [
  {
    name: 'lost middle micro-batches',
    command: OWN_LOOP,
    options: ['--with', '--batch 1 --accumulate 4 --fault lost-middle'],
    change: 'pair',
    where: { differs: 'gradients', step: 0, lost_micro_batches: [1, 2] },
    bug: 'LOSS-12',
  },
  {
    name: 'a micro-batch that counts twice',
    command: OWN_LOOP,
    options: ['--with', '--batch 2 --accumulate 2 --fault twice'],
    change: 'pair',
    where: { differs: 'gradients', step: 0 },
    bug: 'OPT-02',
  },
  {
    name: 'a mean of means, by micro-batches',
    command: OWN_LOOP,
    options: ['--with', '--batch 1 --accumulate 4 --fault means'],
    change: 'pair',
    where: { differs: 'weights', step: 0 },
    bug: 'LOSS-01',
  },
  {
    name: "a mean of means in transformers' Trainer",
    command: `${HF} --accumulate 2 --fault mean-of-means`,
    options: ['--change', 'accumulation'],
    change: 'accumulation',
    where: { differs: 'weights', step: 0 },
    bug: 'LOSS-01',
  },
  {
    name: 'a mean of means, by processes',
    command: `${OWN_LOOP} --fault means ${RANKS} --fault means`,
    change: 'pair',
    where: { differs: 'weights', step: 0 },
    bug: 'LOSS-02',
  },
  {
    name: "a mean of means by processes in transformers' Trainer",
    command: `${HF} --accumulate 2 --fault mean-of-means`,
    options: ['--change', 'ranks'],
    change: 'ranks',
    where: { differs: 'weights', step: 0 },
    bug: 'LOSS-02',
  },
  {
    name: 'positions that count padding',
    command: `${OWN_LOOP} --left --fault positions`,
    options: ['--change', 'padding'],
    change: 'padding',
    where: { differs: 'logprobs', step: 0, module: 'places' },
    bug: 'PAD-05',
  },
  {
    name: 'a loss over padded columns',
    command: `${OWN_LOOP} --fault columns`,
    options: ['--change', 'padding'],
    change: 'padding',
    where: { differs: 'weights', step: 0 },
    bug: 'LOSS-11',
  },
  {
    name: 'a mask that is kept from the first batch',
    command: `${OWN_LOOP} --left --fault mask-cache`,
    options: ['--with', '--batch 2 --accumulate 2', '--steps', '4'],
    change: 'pair',
    where: { differs: 'logprobs' },
  },
  {
    name: 'packed rows that see each other',
    command: OWN_LOOP,
    options: ['--with', '--packed --fault leak'],
    change: 'pair',
    where: { differs: 'logprobs', step: 0 },
    bug: 'PCK-01',
  },
  {
    name: 'rows that see their neighbours',
    command: `${OWN_LOOP} --fault neighbours`,
    options: ['--change', 'mates'],
    change: 'mates',
    where: { differs: 'logprobs', step: 0, module: 'blocks.0' },
  },
  {
    name: 'positions that count the padding beside longer rows',
    command: `${OWN_LOOP} --left --fault positions`,
    options: ['--change', 'mates'],
    change: 'mates',
    where: { differs: 'logprobs', step: 0, module: 'places' },
    bug: 'PAD-05',
  },
  {
    name: "the first row's mask for all rows",
    command: `${OWN_LOOP} --left --batch 3 --fault first-mask`,
    options: ['--change', 'batch-order'],
    change: 'batch-order',
    where: { differs: 'logprobs', step: 0, module: 'blocks.0.out' },
  },
  {
    name: 'a denominator by the length of the first row',
    command: `${OWN_LOOP} --batch 3 --fault first-count`,
    options: ['--change', 'batch-order'],
    change: 'batch-order',
    where: { differs: 'weights', step: 0 },
    bug: 'LOSS-03',
  },
  {
    name: 'a mask of booleans, which eager attention adds to its scores',
    options: ['--change', 'attention'],
    command: 'python LLAMA --bug bool-mask',
    change: 'attention',
    where: { differs: 'logprobs', step: 0, module: 'model.layers.0.self_attn.o_proj' },
  },
  {
    name: 'attention that forgets to divide by the root of the width',
    options: ['--change', 'attention'],
    command: 'python LLAMA --accumulate 2 --micro-batch 2 --bug unscaled',
    change: 'attention',
    where: { differs: 'logprobs', step: 0, module: 'model.layers.0.self_attn.o_proj' },
  },
  {
    name: 'an average that moves once more when a layer is computed again',
    options: ['--change', 'checkpointing'],
    command: 'python LLAMA --dropout 0.1 --bug moving-average',
    change: 'checkpointing',
    where: { differs: 'gradients', step: 0 },
  },
  {
    name: 'dropout that is not restored',
    command: `${OWN_LOOP} --dropout 0.2`,
    options: ['--with', '--checkpoint --fault dropout-not-restored'],
    change: 'pair',
    where: {
      differs: 'gradients',
      step: 0,
      begins_at: 'blocks.1.down.weight',
      backward_module: 'blocks.1',
    },
  },
  {
    name: 'a backward pass by hand that is wrong in one module',
    command: `${OWN_LOOP} --squared`,
    options: ['--with', '--by-hand --fault wrong-backward'],
    change: 'pair',
    where: { differs: 'gradients', step: 0, backward_module: 'blocks.1.feed' },
  },
  {
    name: 'one that is wrong in the gradient of a weight alone',
    command: `${OWN_LOOP} --squared`,
    options: ['--with', '--batch 2 --accumulate 2 --by-hand --fault wrong-weight-gradient'],
    change: 'pair',
    where: { differs: 'gradients', step: 0 },
    says: ['blocks.1.feed.down.weight', 'The gradients at the outputs of all modules agree'],
  },
  {
    name: 'a gradient that survives a step',
    command: `${OWN_LOOP} --fault stale-cache`,
    options: ['--with', '--batch 2 --accumulate 2'],
    change: 'pair',
    where: { differs: 'gradients', step: 1 },
    bug: 'OPT-02',
  },
  {
    name: "a resumed run of transformers' Trainer that begins with the first rows",
    command: `${HF} --ignore-data-skip`,
    options: ['--change', 'resume', '--steps', '1'],
    change: 'resume',
    where: { differs: 'rows', step: 1 },
  },
  {
    name: 'a resumed run that begins with the first rows',
    command: `${OWN_LOOP} --fault restarts`,
    options: RESUME,
    change: 'resume',
    where: { differs: 'rows', step: 2 },
  },
  {
    name: 'a resumed run without moments',
    command: `${OWN_LOOP} --fault no-moments`,
    options: RESUME,
    change: 'resume',
    where: { differs: 'updates', step: 2 },
  },
  {
    name: 'a resumed schedule that is ahead',
    command: `${OWN_LOOP} --fault schedule-twice`,
    options: RESUME,
    change: 'resume',
    where: { step: 2 },
    bug: 'OPT-11',
  },
  {
    name: 'a resumed run that trains nothing',
    command: `${OWN_LOOP} --fault trains-nothing`,
    options: RESUME,
    change: 'resume',
    where: { differs: 'gradients', step: 2 },
  },
  {
    name: 'processes that clip by their own norms',
    command: `${OWN_LOOP} --clip 0.3 --fault clip-own-norm ${RANKS} --clip 0.3 --fault clip-own-norm`,
    change: 'pair',
    where: { differs: 'gradients', step: 0 },
  },
  {
    name: 'a gather whose backward pass sums',
    command: `${OWN_LOOP} --fault summed-gather ${RANKS} --fault summed-gather`,
    change: 'pair',
    where: { step: 0 },
  },
];

export const OF_WHAT_SCRIPTS_HAVE: readonly Fault[] = [
  {
    name: 'packed rows that see each other',
    command: `${OWN_LOOP} --packed --fault leak`,
    options: ['--change', 'packing'],
    change: 'packing',
    where: { differs: 'logprobs', step: 0 },
    bug: 'PCK-01',
  },
  {
    name: 'labels across the seam of packed rows',
    command: `${OWN_LOOP} --packed --fault seam`,
    options: ['--change', 'packing'],
    change: 'packing',
    where: { differs: 'rows', step: 0 },
    bug: 'PCK-03',
  },
  {
    name: 'positions that do not begin anew in packed rows',
    command: `${OWN_LOOP} --packed --fault positions`,
    options: ['--change', 'packing'],
    change: 'packing',
    where: { differs: 'logprobs', step: 0 },
    bug: 'PCK-02',
  },
  {
    name: 'a path of its own for compiled code',
    command: `${OWN_LOOP} --compile eager --fault compiled-branch`,
    options: ['--change', 'compile'],
    change: 'compile',
    where: { differs: 'logprobs', step: 0 },
  },
  {
    name: 'a number of tokens that is compiled in',
    command: `${OWN_LOOP} --compile eager --fault frozen-count`,
    options: ['--change', 'compile'],
    change: 'compile',
    where: { differs: 'weights', step: 1 },
  },
  {
    name: 'a LoRA layer without its scale',
    command: `${LORA} --fault fused-forward`,
    options: ['--change', 'merged'],
    change: 'merged',
    where: { differs: 'logprobs', step: 0, module: 'model.layers.0.self_attn.q_proj' },
  },
  {
    name: 'adapters that are merged twice',
    command: `${LORA} --model absolute --fault merged-twice`,
    options: ['--change', 'merged'],
    change: 'merged',
    where: { differs: 'logprobs', step: 0, module: 'transformer.h.0.attn.c_attn' },
  },
];

const resumedAfter = (steps: number): readonly string[] => [
  '--save-args',
  `--stop-after ${steps} --checkpoint ck.pt`,
  '--resume-args',
  '--resume ck.pt',
];
const PAIR = '--- python -m torch.distributed.run --standalone --nproc-per-node 2 LLAMA --micro-batch 2 BUG';

/** In the command, BUG is what sets the bug, or nothing. */
export const OF_LLAMA: readonly Fault[] = [
  {
    name: 'verl-7401',
    // An epoch has four steps.
    options: resumedAfter(4),
    command: 'python LLAMA BUG',
    change: 'resume',
    where: { differs: 'rows', step: 4 },
  },
  {
    name: 'mini-trainer-79',
    options: resumedAfter(3),
    command: 'python LLAMA BUG',
    change: 'resume',
    where: { differs: 'rows', step: 3 },
  },
  {
    name: 'starvla-210',
    options: ['--with', '--micro-batch 2 --accumulate 2'],
    command: 'python LLAMA BUG',
    change: 'pair',
    where: { differs: 'rates', step: 0 },
    bug: 'OPT-11',
  },
  {
    name: 'transformers-46634',
    options: ['--with', '--pack'],
    command: 'python LLAMA BUG',
    change: 'pair',
    where: { differs: 'logprobs', step: 0 },
    bug: 'PCK-01',
  },
  {
    name: 'olmo-core-828',
    options: ['--with', '--recompute'],
    command: 'python LLAMA --dropout 0.1 BUG',
    change: 'pair',
    where: { differs: 'gradients', step: 0, backward_module: 'model.layers.1.mlp.1' },
  },
  {
    name: 'prime-rl-2562',
    command: `python LLAMA BUG ${PAIR}`,
    change: 'pair',
    where: { differs: 'weights', step: 0 },
    bug: 'LOSS-02',
  },
];

export const FAULTS: readonly Fault[] = [...OF_LOOPS, ...OF_WHAT_SCRIPTS_HAVE, ...OF_LLAMA];
