// Ops between text and ids: how a conversation is written down, tokenised, and read back.
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
  decode: { args: { ids: 'ints' }, ok: { text: 'text' } },
} as const satisfies Record<string, OpSpec>;
