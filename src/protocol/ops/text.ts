// Ops between text and ids: how a conversation is written down, tokenised, made a training batch of,
// and read back.
import type { OpSpec } from '../fields.ts';

const CHAT = {
  route: 'text', // 'sft' or 'rl'
  messages: 'messages',
  add_generation_prompt: 'flag',
  chat_template: 'text?',
} as const;

export const TEXT_OPS = {
  render: { args: CHAT, ok: { text: 'text' } },
  tokenize: { args: CHAT, ok: { input_ids: 'ints', labels: 'ints?' } },
  sft_batch: {
    args: {
      conversations: 'conversations',
      padding_side: 'text?', // 'left' or 'right'
      pad_token_id: 'int?',
    },
    ok: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      labels: 'int_matrix',
      position_ids: 'int_matrix?',
    },
  },
  preference_batch: {
    args: { prompts: 'conversations', chosen: 'texts', rejected: 'texts' },
    ok: {
      chosen_input_ids: 'int_matrix', // prompt and chosen answer
      chosen_attention_mask: 'int_matrix',
      chosen_mask: 'int_matrix?', // 1 = counts in the log-probability of the answer, token-aligned; a reward model has none
      rejected_input_ids: 'int_matrix',
      rejected_attention_mask: 'int_matrix',
      rejected_mask: 'int_matrix?',
    },
  },
  decode: { args: { ids: 'ints' }, ok: { text: 'text' } },
} as const satisfies Record<string, OpSpec>;
