// Bugs of several processes that train one model: what they share, and what each has of the data.
import type { Bug } from './bug.ts';

const UNSHOWN =
  'It concerns several processes or a data loader, which no request reaches. `trace` finds it in scripts.';

export const ranks: readonly Bug[] = [
  {
    id: 'RNK-01',
    what: 'The model inside its wrapper is called directly, and gradients are not reduced.',
    seen: [
      'moojink/openvla-oft#160',
      'huggingface/trl#5282',
      'intel/e2eAIOK#198',
      'rosinality/swapping-autoencoder-pytorch#22',
    ],
    todo: 'Call what DistributedDataParallel(model) returned in every training step, never `.module` or an older name of the model.',
    unshown: UNSHOWN,
  },
  {
    id: 'RNK-02',
    what: 'Gradients of several processes are not reduced, or not all of them.',
    seen: ['pytorch/pytorch#104336', 'pytorch/pytorch#12603'],
    todo: 'Cast, move and change the model before it is wrapped; leave no_sync() before the last micro-batch; if you reduce by hand, reduce every gradient after the last backward pass.',
    unshown: UNSHOWN,
  },
  {
    id: 'RNK-03',
    what: 'Processes that share gradients have different parameters: each was initialised by itself, or one was changed.',
    seen: ['horovod/horovod#672'],
    todo: 'Broadcast the parameters of rank 0 before the first step, and do not load or initialise anything afterwards on some ranks only.',
    unshown: UNSHOWN,
  },
  {
    id: 'RNK-04',
    what: 'Every process trains on the same rows.',
    seen: ['openspeech-team/openspeech#149', 'k2-fsa/icefall#1616', 'alex-hh/profam#312'],
    todo: 'Give the loader a DistributedSampler, or every n-th row of a stream; seed sampling by rank.',
    unshown: UNSHOWN,
  },
  {
    id: 'RNK-05',
    what: 'The workers of a data loader draw with the same seed, or each reads the whole stream.',
    seen: ['pytorch/pytorch#5059', 'facebookresearch/fairseq#1383', 'open-mmlab/OpenPCDet#886'],
    todo: 'Seed in the worker, from torch.utils.data.get_worker_info().seed; let each worker of an IterableDataset take every n-th row.',
    unshown: UNSHOWN,
  },
];
