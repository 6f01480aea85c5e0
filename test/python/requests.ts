// One plausible request for each op, for smoke tests of the example trainers.
import type { Request } from './adapter.ts';

const messages = [
  { role: 'system', content: 'Be kind.' },
  { role: 'user', content: ' Hello there ' },
  { role: 'assistant', content: 'Hi!' },
];
const batch = {
  prompt_ids: [[5], [6, 7]],
  sequences: [
    [0, 5, 11, 2, 0],
    [6, 7, 12, 13, 14],
  ],
  pad_token_id: 0,
  eos_token_ids: [2],
};
const logits = [0, 1].map((b) =>
  [0, 1, 2, 3].map((t) => [0, 1, 2, 3, 4, 5].map((v) => ((b + 2) * (t + 3) * (v + 5)) % 7)),
);
const ids = {
  input_ids: [
    [0, 1, 2, 3],
    [4, 5, 1, 0],
  ],
  attention_mask: [
    [0, 1, 1, 1],
    [1, 1, 1, 1],
  ],
};

/** Per-token matrices of two rows and four columns, the completion being the last two. */
export const TRACKS = {
  logprobs: [
    [0, -2, -1, -2],
    [0, -3, -0.1, -0.2],
  ],
  old_logprobs: [
    [0, -2, -1.1, -1],
    [0, -3, -0.5, -0.2],
  ],
  ref_logprobs: [
    [0, -2, -1, -2.5],
    [0, -3, -0.5, -0.7],
  ],
  completion_mask: [
    [0, 0, 1, 0],
    [0, 0, 1, 1],
  ],
};

export const ONE_EACH: readonly Request[] = [
  { op: 'render', args: { route: 'sft', messages, add_generation_prompt: false } },
  { op: 'tokenize', args: { route: 'sft', messages, add_generation_prompt: false } },
  {
    op: 'collate',
    args: {
      input_ids: [[1, 2, 3], [4]],
      labels: [[-100, 2, 3], [4]],
      pad_token_id: 9,
    },
  },
  {
    op: 'extract',
    args: {
      ...batch,
      padding_side: 'left',
      input_ids: [
        [0, 5],
        [6, 7],
      ],
      attention_mask: [
        [0, 1],
        [1, 1],
      ],
      sampled_ids: [
        [11, 2, 0],
        [12, 13, 14],
      ],
    },
  },
  {
    op: 'mask',
    args: {
      ...batch,
      completion_ids: [
        [11, 2],
        [12, 13, 14],
      ],
      attention_mask: [
        [0, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
      ],
      prompt_width: 2,
    },
  },
  { op: 'rollout', args: { conversations: [messages.slice(0, 2)], sampled_ids: [[50, 60]] } },
  { op: 'logprobs', args: { ...ids, logits, prompt_width: 2, temperature: 1 } },
  { op: 'score', args: { prompt_ids: [[5], [6, 7]], completion_ids: [[11, 2], [12]] } },
  { op: 'kl', args: { ...TRACKS, prompt_width: 0 } },
  { op: 'advantages', args: { rewards: [1, 0, 0.5, 0.5], group_ids: [0, 0, 1, 1] } },
  { op: 'loss', args: { ...TRACKS, advantages: [1, -1], prompt_width: 0, micro_batches: [[0], [1]] } },
  {
    op: 'sft_loss',
    args: {
      ...ids,
      labels: [
        [-100, -100, 2, 3],
        [-100, 5, 1, -100],
      ],
      logits,
      micro_batches: [[0, 1]],
    },
  },
  {
    op: 'penalties',
    args: {
      ...ids,
      prompt_width: 2,
      prompt_ids: [[1], [4, 5]],
      completion_ids: [
        [2, 3],
        [1, 0],
      ],
      logits: [
        [1, -1, 2, 0, 0, 0],
        [1, -1, 2, 0, 0, 0],
      ],
      presence_penalty: 0.5,
      frequency_penalty: 0.25,
      repetition_penalty: 1.5,
    },
  },
  {
    op: 'contract',
    args: {
      order: ['current_batch', 'target_batch', 'segments'],
      segments: [{ prompt_ids: [1], completion_ids: [2, 3], reward: 1 }],
      enabled: ['sft', 'rft'],
    },
  },
];
