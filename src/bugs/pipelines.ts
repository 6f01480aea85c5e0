// Bugs of pipelines: what is handed over between parts, and what is trained when.
import type { Bug } from './bug.ts';

export const pipelines: readonly Bug[] = [
  {
    id: 'MSK-15',
    what: 'Per-step arrays of a segment have lengths that differ by one, and the mask follows the wrong one.',
    seen: ['opendilab/LightZero@9d54f082', 'opendilab/LightZero@0ad3fdf0'],
    todo: 'Write down whether an array is per state (K + 1) or per transition (K), name it so, and give the mask the length of the transitions. Do not cut by "if it is longer".',
  },
  {
    id: 'ADV-14',
    what: 'With one sample per prompt all advantages are 0, and no warning appears.',
    seen: ['OpenRLHF/OpenRLHF#1250'],
    todo: 'Refuse a group baseline with one sample per prompt, for every estimator that has one, or use a baseline of the batch.',
  },
  {
    id: 'ZL-01',
    what: 'A batch is read by length or position, and a loss that is switched on never runs.',
    seen: ['opendilab/LightZero@9d54f082', 'opendilab/LightZero@a3a2d698'],
    todo: 'Hand batches over with named fields and raise for a missing one. Count how often each loss that is switched on ran.',
  },
  {
    id: 'ZL-02',
    what: 'Nothing is trained, and the run reports a loss of 0 as success.',
    seen: [
      'unslothai/unsloth#2900',
      'unslothai/unsloth#1128',
      'unslothai/unsloth#2364',
      'unslothai/unsloth#2771',
      'huggingface/trl#6668',
      'huggingface/trl#6671',
      'shibing624/MedicalGPT#252',
    ],
    todo: 'Count trained tokens of each step, log them, and stop at 0. The cause lies further up: the mask (TOK-06, TPL-09) or truncation (TRN-04).',
  },
  {
    id: 'ZL-04',
    what: 'A batch without any advantage crashes, or is skipped in silence.',
    seen: ['thinking-machines-lab/tinker-cookbook#507', 'OpenRLHF/OpenRLHF#1250'],
    todo: 'Skip the step explicitly, count it, and keep all ranks in step. If it happens often, the prompts are too easy or too hard.',
  },
  {
    id: 'ZL-05',
    what: 'A counter or a metric is read from a place that is never written.',
    seen: ['verl-project/verl@66d2b3a43'],
    todo: 'Compute counters from the mask that the loss used, in the same function.',
  },
  {
    id: 'NUM-07',
    what: 'NaN, infinities or large ids do not survive JSON.',
    seen: [],
    todo: 'Use the SDK, or tag NaN and infinities as PROTOCOL.md says; never write null for a number, and keep ids below 2^53.',
    unshown:
      "It concerns the pipe between harness and trainer; the decoder's and the SDK's own tests prove it.",
  },
];
