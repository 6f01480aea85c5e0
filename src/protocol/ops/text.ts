// Ops between text and ids: how a conversation is written down, tokenised, made a training batch of,
// and read back.
import { op } from '../op.ts';

const CHAT = {
  route: 'text', // 'sft' or 'rl'
  messages: 'messages',
  add_generation_prompt: 'flag',
  chat_template: 'text?',
} as const;

export const TEXT_OPS = {
  render: op({
    args: CHAT,
    ok: { text: 'text' },
    offers: ['route', 'chat_template', 'tools', 'turns'],
    batch: { none: 'one conversation, and text of any shape' },
  }),
  tokenize: op({
    args: CHAT,
    ok: { input_ids: 'ints[token]', labels: 'ints[token]?' },
    offers: ['route', 'chat_template', 'tools', 'turns', 'message_flag'],
    batch: { none: 'one conversation, cut into as many rows as the trainer likes' },
  }),
  sft_batch: op({
    args: {
      conversations: 'conversations[conversation]',
      padding_side: 'text?', // 'left' or 'right'
      pad_token_id: 'int?',
    },
    ok: {
      input_ids: 'int_matrix[conversation, column]',
      attention_mask: 'int_matrix[conversation, column]',
      labels: 'int_matrix[conversation, column]',
      position_ids: 'int_matrix[conversation, column]?',
    },
    offers: ['padding_side', 'pad_token_id', 'tools', 'turns', 'message_flag'],
    batch: { reach: 'row' },
  }),
  preference_batch: op({
    args: { prompts: 'conversations', chosen: 'texts[pair]', rejected: 'texts[pair]' },
    ok: {
      chosen_input_ids: 'int_matrix[pair, chosen column]', // prompt and chosen answer
      chosen_attention_mask: 'int_matrix[pair, chosen column]',
      chosen_mask: 'int_matrix[pair, chosen column]?', // 1 = counts in the log-probability of the answer, token-aligned; a reward model has none
      rejected_input_ids: 'int_matrix[pair, rejected column]',
      rejected_attention_mask: 'int_matrix[pair, rejected column]',
      rejected_mask: 'int_matrix[pair, rejected column]?',
    },
    offers: ['tools', 'turns'],
    batch: { reach: 'row' },
  }),
  decode: op({
    args: { ids: 'ints' },
    ok: { text: 'text' },
    offers: ['skip_special_tokens'],
    batch: { none: 'one list of ids, and text' },
  }),
};
