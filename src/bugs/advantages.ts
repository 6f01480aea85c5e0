// Bugs of rewards and advantages.
import type { Bug } from './bug.ts';

export const advantages: readonly Bug[] = [
  {
    id: 'KL-12',
    what: 'The reward of the sequence is given to each token instead of to one.',
    seen: ['huggingface/trl#2575'],
    todo: 'Add the score to one token, the last of the completion, and the KL to each; check that the rewards of a row sum to score - beta * KL.',
  },
  {
    id: 'ADV-02',
    what: 'The branches for group and batch are swapped.',
    seen: ['huggingface/trl#3992', 'PrimeIntellect-ai/prime-rl#1188'],
    todo: 'Read the two branches of the setting against its documentation, then scale the rewards of one group by 10: only under "batch" may the other groups move.',
  },
  {
    id: 'ADV-03',
    what: 'Advantages are normalised over the batch where the group is meant.',
    formula: 'the whole batch is taken for one group',
    seen: ['XU-YIJIE/grpo-flat#2', 'dllm-reasoning/d1#19'],
    todo: 'Reshape rewards to (prompts, G), subtract the mean of the last axis, divide by its deviation. A mean over the whole batch rewards easy prompts.',
  },
  {
    id: 'ADV-04',
    what: 'Rows are grouped in another order than they lie in.',
    formula: 'every n-th row, or n neighbouring rows, are taken for a group',
    seen: ['StarsfieldAI/R1-V#67', 'modelscope/ms-swift#6720', 'huggingface/trl#6680'],
    todo: 'Group by ids that travel with the rows instead of by `view(-1, G)`. If you reshape, repeat prompts with `repeat_interleave`, so that rows of one prompt stand together.',
  },
  {
    id: 'ADV-05',
    what: 'Groups without spread, or with one row, give NaN or huge advantages.',
    formula: 'nothing guards the division',
    seen: ['NVIDIA-NeMo/RL#1519', 'NVIDIA-NeMo/RL#4158', 'huggingface/trl#5773', 'verl-project/verl#3635'],
    todo: 'Set advantages to 0 where `max - min == 0`, do not rely on epsilon alone, and state ddof: a group of one has no deviation with ddof 1.',
  },
  {
    id: 'ADV-06',
    what: 'Padding takes part in the statistics of whitening.',
    seen: [
      'verl-project/verl#1527',
      'inclusionAI/AReaL#1346',
      'inclusionAI/AReaL#1351',
      'OpenRLHF/OpenRLHF#1250',
    ],
    todo: 'Take mean and variance under the mask, both, and multiply the mask in again afterwards.',
  },
  {
    id: 'ADV-12',
    what: 'Groups are found by the text of the prompt, and equal prompts become one group.',
    seen: ['NVIDIA-NeMo/RL#2176'],
    todo: 'Give each group an id when it is sampled, and group by that. Two equal prompts are two groups.',
  },
  {
    id: 'ADV-13',
    what: 'Whitening uses the statistics of one rank instead of all.',
    seen: ['THUDM/slime#2235', 'THUDM/slime@4090839d2'],
    todo: 'Reduce sum, sum of squares and count over all ranks that share the batch, then whiten; whiten before sharding where you can.',
  },
  {
    id: 'ADV-15',
    what: 'Clipping adds both sides: doubled inside the range, without bound outside.',
    seen: [],
    todo: 'Write `min(max(a, low), high)`, or `torch.clamp`.',
  },
  {
    id: 'ADV-16',
    what: 'The sampler repeats some prompts more often than others.',
    seen: ['huggingface/trl#4531'],
    todo: 'Count how often each index was drawn over an epoch; pad or drop the last batch so that each prompt comes equally often.',
    unshown:
      'It concerns the order in which a data loader repeats prompts over steps; no op hands over a sequence of batches.',
  },
  {
    id: 'VAL-01',
    what: 'The final reward lands on padding or on another token than declared.',
    seen: [
      'huggingface/trl#3750',
      'huggingface/trl#1893',
      'huggingface/trl#5338',
      'deepspeedai/DeepSpeedExamples#672',
      'meta-pytorch/torchtune#1005',
      'verl-project/verl#6392',
      'verl-project/verl#6310',
    ],
    todo: 'Say where the score lands, usually the last completion token (the stop token if there is one), find it by the mask, and use the same index for KL, values and metrics. Try rows with no stop, and with one in the last column.',
  },
  {
    id: 'VAL-03',
    what: 'The value of a state is read after its action instead of before it.',
    seen: ['huggingface/trl#137'],
    todo: 'The value of the state before token t is read at column t - 1. Compare advantages with a sum by hand for rows of one, two and three tokens.',
  },
  {
    id: 'VAL-04',
    what: 'Tokens of a tool are steps of the advantage recursion, or break it.',
    seen: ['radixark/miles#1827', 'verl-project/verl#6376'],
    todo: 'Run the recursion over trained tokens only: take them out by the mask, compute, scatter back. Then tool output of any length changes nothing.',
  },
  {
    id: 'VAL-07',
    what: 'A grader is handed text where ids are meant, and counts characters as tokens.',
    seen: ['NovaSky-AI/SkyRL#764'],
    todo: 'Name arguments `text` or `ids`, hand both to the grader, and count tokens with `len(ids)`.',
  },
  {
    id: 'VAL-08',
    what: 'A penalty for length divides by 0, or a grader dies in silence and every reward is 0.',
    seen: ['verl-project/verl#5216', 'verl-project/verl#5635', 'huggingface/trl@91e3da093'],
    todo: 'Guard the divisor of every length penalty, run each grader once on a good and a bad answer inside the worker that will run it, and let exceptions through.',
  },
  {
    id: 'VAL-12',
    what: 'A filter of rollouts drops other rows than those without a signal, or parts of a group.',
    seen: [
      'NVIDIA-NeMo/RL#4158',
      'NVIDIA-NeMo/RL#3794',
      'radixark/miles_diffusion#253',
      'OpenRLHF/OpenRLHF#1272',
    ],
    todo: 'Decide once per group by its largest and smallest reward, keep or drop all of its rows, and index every list of the batch with the kept rows.',
  },
  {
    id: 'NUM-01',
    what: 'A row or batch without trained tokens is divided by 0.',
    seen: [
      'verl-project/verl#782',
      'NVIDIA-NeMo/RL#166',
      'THUDM/slime@82d3f94a3',
      'allenai/open-instruct#1685',
      'PrimeIntellect-ai/prime-rl@e2e6f9ab1',
      'OpenRLHF/OpenRLHF#583',
      'inclusionAI/AReaL#463',
      'unslothai/unsloth-zoo#1262',
    ],
    todo: 'Divide by `mask.sum().clamp(min=1)`; `torch.max(x, 1)` takes 1 for an axis. Let a row without tokens count neither above nor below.',
  },
];
