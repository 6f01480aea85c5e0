// One plausible request for each op, for smoke tests of the example trainers.
import { models } from '../../src/checkpoints/models.ts';
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

const NUMBERS = [
  [0, 0, 1, 0],
  [0, 0, 0.5, -0.25],
];
const CRITIC = {
  rewards: NUMBERS,
  values: NUMBERS,
  completion_mask: TRACKS.completion_mask,
  prompt_width: 0,
};
const TOKEN_REWARDS = {
  scores: [1, -1],
  process_rewards: NUMBERS,
  kl: NUMBERS,
  completion_mask: TRACKS.completion_mask,
  prompt_width: 0,
  kl_coef: 0.5,
};
const WHITEN = { values: NUMBERS, completion_mask: TRACKS.completion_mask, prompt_width: 0 };

const checkpoint = (seed: number): string =>
  models.folder({ kind: 'llama', seed, vocabulary: 32 }, { eosTokenIds: [2], padTokenId: 0 });
const MODEL = { model_path: checkpoint(0), prompt_ids: [[5], [6, 7]], completion_ids: [[11, 2], [12]] };

export const ONE_EACH: readonly Request[] = [
  { op: 'render', args: { route: 'sft', messages, add_generation_prompt: false } },
  { op: 'tokenize', args: { route: 'sft', messages, add_generation_prompt: false } },
  { op: 'decode', args: { ids: [50, 60] } },
  {
    op: 'collate',
    args: {
      input_ids: [[1, 2, 3], [4]],
      labels: [[-100, 2, 3], [4]],
      pad_token_id: 9,
    },
  },
  { op: 'truncate', args: { input_ids: [[1, 2, 3], [4]], labels: [[-100, 2, 3], [4]], max_length: 2 } },
  { op: 'truncate_prompts', args: { prompt_ids: [[1, 2, 3], [4]], max_prompt_length: 2, pad_token_id: 9 } },
  {
    op: 'pack',
    args: { input_ids: [[1, 2, 3], [4]], labels: [[-100, 2, 3], [4]], max_length: 4, pad_token_id: 9 },
  },
  {
    op: 'preference',
    args: {
      prompt_ids: [[5], [6, 7]],
      chosen_ids: [[11, 2], [12]],
      rejected_ids: [[2], [13, 14, 2]],
      pad_token_id: 0,
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
  {
    op: 'sft_batch',
    args: { conversations: [messages, messages.slice(0, 2)], padding_side: 'left', pad_token_id: 0 },
  },
  {
    op: 'preference_batch',
    args: { prompts: [messages.slice(0, 1)], chosen: ['yes'], rejected: [''] },
  },
  { op: 'rollout', args: { conversations: [messages.slice(0, 2)], sampled_ids: [[50, 60]] } },
  {
    op: 'trajectory',
    args: {
      prompt_ids: [5, 6],
      turns: [
        { role: 'assistant', ids: [7, 2], logprobs: [-0.5, -0.25], finish_reason: 'stop' },
        { role: 'tool', ids: [9, 2], logprobs: [], finish_reason: 'none' },
        { role: 'assistant', ids: [8], logprobs: [-1], finish_reason: 'length' },
      ],
      advantage: 0.5,
      eos_token_ids: [2],
    },
  },
  { op: 'logprobs', args: { ...ids, logits, prompt_width: 2, temperature: 1 } },
  { op: 'score', args: { prompt_ids: [[5], [6, 7]], completion_ids: [[11, 2], [12]] } },
  { op: 'update', args: { prompt_ids: [[5], [6, 7]], completion_ids: [[11, 2], [12]] } },
  { op: 'values', args: { prompt_ids: [[5], [6, 7]], completion_ids: [[11, 2], [12]], temperature: 1 } },
  { op: 'reward_model', args: { prompt_ids: [[5], [6, 7]], completion_ids: [[11, 2], [12]] } },
  {
    op: 'entropy',
    args: { ...ids, logits, completion_mask: TRACKS.completion_mask, prompt_width: 2 },
  },
  {
    op: 'full_kl',
    args: {
      ...ids,
      logits,
      ref_logits: logits.toReversed(),
      completion_mask: TRACKS.completion_mask,
      prompt_width: 2,
      temperature: 1,
    },
  },
  { op: 'kl', args: { ...TRACKS, prompt_width: 0 } },
  { op: 'token_rewards', args: TOKEN_REWARDS },
  { op: 'gae', args: { ...CRITIC, gamma: 0.5, lam: 0.75 } },
  {
    op: 'returns',
    args: {
      rewards: CRITIC.rewards,
      completion_mask: CRITIC.completion_mask,
      prompt_width: CRITIC.prompt_width,
      gamma: 0.5,
    },
  },
  { op: 'whiten', args: WHITEN },
  { op: 'clip_advantages', args: { advantages: [0.5, -7], limit: 5 } },
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
    op: 'value_loss',
    args: {
      values: NUMBERS,
      old_values: TRACKS.old_logprobs,
      returns: TRACKS.logprobs,
      completion_mask: TRACKS.completion_mask,
      prompt_width: 2,
      micro_batches: [[0], [1]],
    },
  },
  {
    op: 'preference_loss',
    args: {
      chosen_logprobs: [[-1, -0.5], [-2]],
      rejected_logprobs: [[-1], [-0.5, -0.25, -1]],
      ref_chosen_logprobs: [[-1.5, -0.5], [-1]],
      ref_rejected_logprobs: [[-1], [-1, -0.5, -1]],
    },
  },
  {
    op: 'reward_loss',
    args: { chosen_scores: [1.5, -0.5], rejected_scores: [0.25, 0.75] },
  },
  {
    op: 'unpaired_preference_loss',
    args: {
      logprobs: [[-1, -0.5], [-2]],
      ref_logprobs: [[-1.5, -0.5], [-1]],
      desirable: [1, 0],
      kl_logprobs: [[-1], [-0.5, -0.25]],
      ref_kl_logprobs: [[-1.5], [-1, -0.5]],
    },
  },
  {
    op: 'sampling',
    args: {
      logits: [
        [1, -1, 2, 0],
        [0.5, 1.5, 2, -1],
      ],
      completion_ids: [[1], [3]],
      sampled_ids: [2, 1],
      eos_token_ids: [0],
      temperature: 0.5,
      top_k: 0,
      top_p: 1,
      min_new_tokens: 0,
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
  { op: 'model_score', args: { ...MODEL, temperature: 1, reference_path: checkpoint(1) } },
  { op: 'train_step', args: { ...MODEL, learning_rate: 0.5, saved_path: models.saving() } },
  {
    op: 'preference_step',
    args: {
      model_path: MODEL.model_path,
      reference_path: checkpoint(1),
      prompt_ids: MODEL.prompt_ids,
      chosen_ids: MODEL.completion_ids,
      rejected_ids: MODEL.completion_ids.toReversed(),
      learning_rate: 0.5,
      saved_path: models.saving(),
    },
  },
  {
    op: 'reward',
    args: {
      prompts: ['What is 17 + 25?'],
      completions: ['<answer>42</answer>'],
      references: ['42'],
      completion_ids: [[5, 6]],
    },
  },
  { op: 'overlong_penalty', args: { lengths: [0, 7, 9], max_length: 8, buffer: 4 } },
  { op: 'format_score', args: { completions: ['<think>a</think><answer>42</answer>', '!!!'] } },
  { op: 'parse_tool_call', args: { text: '<tool_call>{"name": "ad' } },
  { op: 'tool_step', args: { text: '<answer>42</answer>' } },
  {
    op: 'contract',
    args: {
      order: ['current_batch', 'target_batch', 'segments'],
      segments: [{ prompt_ids: [1], completion_ids: [2, 3], reward: 1 }],
      enabled: ['sft', 'rft'],
    },
  },
  {
    op: 'schedule',
    args: {
      mode: 'sequential',
      iterations: 3,
      frequencies: { world_model: 1, sft: 2, rft: 2 },
      enabled: ['rft', 'world_model'],
      optional: [],
    },
  },
  { op: 'segment_rows', args: { segments: [{ prompt_ids: [1], completion_ids: [2, 3], reward: 1 }] } },
  {
    op: 'unroll',
    args: {
      observations: [[3, 4, 5]],
      actions: [[6, 7]],
      rewards: [[0.5, 1]],
      starts: [1],
      unroll_steps: 2,
    },
  },
];
