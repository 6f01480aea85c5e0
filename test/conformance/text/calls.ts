// Trainers that call their chat template otherwise than plainly: with a variable of the template's own, or with a system
// message of their own. On every route alike, declared or not.
import {
  type Args,
  type Ids,
  loadTokenizer,
  type Message,
  type Ok,
  reject,
  renderChat,
  type Semantics,
  type Tokenizer,
} from '../../../src/index.ts';
import { familyFolder } from '../../../src/tokenizers/families.ts';
import { type Legal, legal, repeat } from '../legal.ts';

function family(name: string): Tokenizer {
  const loaded = loadTokenizer(familyFolder(name));
  if ('problem' in loaded) throw new Error(loaded.problem);
  return loaded.tokenizer;
}

/** The switch of Qwen3: without thinking, every answer stands behind a thought that is empty. */
const THINKING = `{%- for m in messages -%}
{{- '<|im_start|>' + m.role + '\\n' }}
{%- if m.role == 'assistant' and loop.last and enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif %}
{{- m.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}`;

const qwen = family('qwen');
const thinking = Object.create(qwen, { chatTemplate: { value: THINKING } }) as Tokenizer;

/** A variable of somebody's own, which nothing could guess. */
const moody = Object.create(qwen, {
  chatTemplate: {
    value: (qwen.chatTemplate ?? '').replace(
      /^/,
      "{%- if mood is defined %}{{- 'Be ' + mood + '. ' }}{%- endif %}",
    ),
  },
}) as Tokenizer;

interface Call {
  readonly template_arguments?: Semantics['template_arguments'];
  readonly default_system?: string;
}

function calling(name: string, tokenizer: Tokenizer, call: Call, declared: Semantics = {}): Legal {
  const token = (id: number | undefined): string => (id === undefined ? '' : (tokenizer.token(id) ?? ''));
  const written = (messages: readonly Message[], add: boolean): string => {
    const own = call.default_system !== undefined && messages[0]?.role !== 'system';
    const system = own ? [{ role: 'system' as const, content: call.default_system }] : [];
    const result = renderChat(tokenizer.chatTemplate ?? '', {
      messages: [...system, ...messages],
      addGenerationPrompt: add,
      bosToken: token(tokenizer.bosTokenId),
      eosToken: token(tokenizer.eosTokenId),
      ...(call.template_arguments === undefined ? {} : { extra: call.template_arguments }),
    });
    return 'text' in result ? result.text : reject(result.problem);
  };
  const encode = (messages: readonly Message[], add: boolean): Ids =>
    tokenizer.encode(written(messages, add));
  const { eosTokenId: eos = 0 } = tokenizer;
  // What ends a turn need not be the tokenizer's eos.
  const turnEnd = tokenizer.tokenId('<end_of_turn>');
  const eos_token_ids = turnEnd === undefined ? [eos] : [turnEnd, eos];
  const tokens = { vocab_size: tokenizer.vocabSize, pad_token_id: eos, eos_token_ids };
  const tokenize = ({ messages, add_generation_prompt: add }: Args<'tokenize'>): Ok<'tokenize'> => {
    const ids = encode(messages, add);
    if (add) return { input_ids: ids };
    if (messages.at(-1)?.role !== 'assistant') reject('a conversation ends with an answer');
    const from = encode(messages.slice(0, -1), true).length;
    return { input_ids: ids, labels: ids.map((id, at) => (at < from ? -100 : id)) };
  };
  const rollout = ({ conversations, sampled_ids }: Args<'rollout'>): Ok<'rollout'> => {
    const prompt_ids = conversations.map((messages) => encode(messages, true));
    const rows = prompt_ids.map((prompt, row) => [...prompt, ...(sampled_ids[row] ?? [])]);
    const width = Math.max(...rows.map((row) => row.length));
    const padded = (row: Ids, fill: number): Ids => [...row, ...repeat(fill, width - row.length)];
    return {
      prompt_ids,
      input_ids: rows.map((row) => padded(row, eos)),
      attention_mask: rows.map((row) =>
        padded(
          row.map(() => 1),
          0,
        ),
      ),
      completion_mask: rows.map((row, at) =>
        padded(
          row.map((_, column) => Number(column >= (prompt_ids[at]?.length ?? 0))),
          0,
        ),
      ),
    };
  };
  return legal(
    name,
    {
      render: ({ messages, add_generation_prompt: add }) => ({ text: written(messages, add) }),
      tokenize,
      rollout,
    },
    { tokens, semantics: declared },
    tokenizer,
  );
}

const withoutThinking = { template_arguments: { enable_thinking: false } };
const inMood = { template_arguments: { mood: 'terse' } };
const withSystem = { default_system: 'You are a patient teacher.' };

export const calls: readonly Legal[] = [
  calling('chats without thinking, undeclared', thinking, withoutThinking),
  calling('chats without thinking, declared', thinking, withoutThinking, withoutThinking),
  calling('chats with a variable that no other template has, declared', moody, inMood, inMood),
  ...['qwen', 'llama3', 'gemma', 'mistral'].map((name) =>
    calling(`chats of ${name} behind a system message of their own, undeclared`, family(name), withSystem),
  ),
  calling('chats behind a system message of their own, declared', qwen, withSystem, withSystem),
  calling('chats behind a system message, without thinking', thinking, { ...withSystem, ...withoutThinking }),
];
