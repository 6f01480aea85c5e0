// A script of supervised fine-tuning as it is written by hand: one route, chats tokenised turn by turn, no generation prompt
// for anybody, and nothing declared but the tokenizer. All of that is legal, and which token ends a turn is the template's.
import {
  type Args,
  type Ids,
  loadTokenizer,
  type Message,
  reject,
  renderChat,
  type Tokenizer,
} from '../../../src/index.ts';
import { families, familyFolder } from '../../../src/tokenizers/families.ts';
import { type Legal, legal } from '../legal.ts';

export function tokenizerOf(family: string): Tokenizer {
  const loaded = loadTokenizer(familyFolder(family));
  if ('problem' in loaded) throw new Error(loaded.problem);
  return loaded.tokenizer;
}

function written(tokenizer: Tokenizer, messages: readonly Message[], add: boolean): string {
  const token = (id: number | undefined): string => (id === undefined ? '' : (tokenizer.token(id) ?? ''));
  const text = renderChat(tokenizer.chatTemplate ?? '', {
    messages,
    addGenerationPrompt: add,
    bosToken: token(tokenizer.bosTokenId),
    eosToken: token(tokenizer.eosTokenId),
  });
  return 'text' in text ? text.text : reject(text.problem);
}

/** `text` behind `before`, which the template must not rewrite. */
const behind = (text: string, before: string): string =>
  text.startsWith(before) ? text.slice(before.length) : reject('the template rewrites earlier turns');

/** Answers are trained with all that the template writes behind them, or with `onlyLast` the last one. */
export function byTurns(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  onlyLast: boolean,
): { readonly input_ids: number[]; readonly labels: number[] } {
  const ids: number[] = [];
  const labels: number[] = [];
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const add = (text: string, trained: boolean): void => {
    const piece: Ids = tokenizer.encode(text);
    ids.push(...piece);
    labels.push(...piece.map((id) => (trained ? id : -100)));
  };
  for (const [at, { role }] of messages.entries()) {
    const before = at === 0 ? '' : written(tokenizer, messages.slice(0, at), false);
    const after = written(tokenizer, messages.slice(0, at + 1), false);
    if (role !== 'assistant') {
      add(behind(after, before), false);
      continue;
    }
    const header = written(tokenizer, messages.slice(0, at), true);
    add(behind(header, before), false);
    add(behind(after, header), !onlyLast || at === last);
  }
  return { input_ids: ids, labels };
}

function plain(whose: string, tokenizer: Tokenizer, onlyLast: boolean): Legal {
  return legal(
    `a plain script for ${whose}${onlyLast ? ', the last answer trained' : ''}`,
    { tokenize: ({ messages }: Args<'tokenize'>) => byTurns(tokenizer, messages, onlyLast) },
    { can: { tokenize: { route: ['sft'] } } },
    tokenizer,
  );
}

/** As Gemma 2's: it raises at a system message, which the trainer then refuses as well. */
const REFUSING = `{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for message in messages %}{{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}`;

export const refusingSystem: Legal = plain(
  'a template that refuses system messages',
  { ...tokenizerOf('gemma'), chatTemplate: REFUSING },
  false,
);

/** As Mistral Nemo's: the system text stands before the last question, where that is the last message. */
const MOVING = `{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}{% set messages = messages[1:] %}{% endif %}
{%- for message in messages %}{% if message['role'] == 'user' %}{{ '[INST]' + (system + '\n\n' if system is defined and loop.last else '') + message['content'] + '[/INST]' }}
{%- else %}{{ message['content'] + eos_token }}{% endif %}{% endfor %}`;

/** Of one answer, whose ids are counted from the end of the row: its prompt is not its beginning. */
function countedFromTheEnd(tokenizer: Tokenizer): Legal {
  const tokenize = ({ messages, add_generation_prompt: prompt }: Args<'tokenize'>) => {
    const ids = tokenizer.encode(written(tokenizer, messages, false));
    if (prompt) return { input_ids: ids };
    const answer = [...tokenizer.encode(messages.at(-1)?.content ?? ''), tokenizer.eosTokenId];
    const before = ids.length - answer.length;
    if (answer.some((id, at) => id !== ids[before + at]))
      return reject('the answer is tokenised otherwise in its row');
    return { input_ids: ids, labels: ids.map((id, at) => (at < before ? -100 : id)) };
  };
  const can = { tokenize: { route: ['sft'], turns: 1 } } as const;
  return legal(
    'answers counted from the end, under a template that moves the system text',
    { tokenize },
    { can },
    tokenizer,
  );
}

export const plainChats: readonly Legal[] = [
  countedFromTheEnd({ ...tokenizerOf('qwen'), chatTemplate: MOVING }),
  ...families.flatMap((family) =>
    [false, true].map((onlyLast) => plain(family, tokenizerOf(family), onlyLast)),
  ),
  refusingSystem,
];
