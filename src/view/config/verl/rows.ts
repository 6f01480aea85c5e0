// Rows as verl makes them. Supervised: each message rendered and tokenised by itself, put together, and compared with the
// whole; by reinforcement: the prompt with its generation prompt. Source: MultiTurnSFTDataset, RLHFDataset,
// extract_system_prompt_and_generation and apply_chat_template of verl.
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Ids } from '../../../vocabulary.ts';
import type { ChatMessage } from '../../shape/messages.ts';
import type { WriteOptions, Writer } from '../../writer.ts';
import { textOf, written } from '../keys.ts';
import type { Ruled } from '../rows.ts';

/** Supervised, or by reinforcement: each has a configuration of its own. */
export type Way = 'sft' | 'rl';

export interface VerlSettings {
  readonly way: Way;
  /** The value of a key, its default where it is not given. */
  readonly value: (key: string) => unknown;
  /** Further variables of the chat template. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export const KWARGS = 'data.apply_chat_template_kwargs';

export type Writers = (thinking: boolean | undefined) => Writer;

/** As Python takes a value. */
export const isTrue = (value: unknown): boolean => value !== undefined && value !== null && Boolean(value);

interface Common {
  readonly tokenizer: Tokenizer;
  readonly limit: number;
}

export function supervised(
  { value }: VerlSettings,
  { tokenizer, writers, thinking, limit }: Common & { readonly writers: Writers; readonly thinking: unknown },
): (row: JsonObject) => Ruled {
  const [key, toolsKey, thinkingKey] = [
    textOf(value('data.messages_key')),
    textOf(value('data.tools_key')),
    textOf(value('data.enable_thinking_key')),
  ];
  const plain = writers(undefined);
  const fixed = fixedParts(plain, tokenizer);
  const most = value('data.train_max_samples');
  const shuffled = value('data.shuffle') === true;
  let count = 0;
  return (row) => {
    count++;
    if (typeof most === 'number' && most > 0 && count > most && !shuffled) return { shapes: [] };
    const media = MEDIA.find((name) => row[name] !== undefined);
    if (media !== undefined) return { unsupported: `it has ${media}` };
    const messages = messagesIn(row[key]);
    if ('stops' in messages) return messages;
    if ('problem' in fixed) return { stops: fixed.problem };
    const tools = row[toolsKey];
    if (tools !== undefined && tools !== null && !Array.isArray(tools))
      return { unsupported: 'its tools are no list' };
    const own = row[thinkingKey] === undefined ? thinking : row[thinkingKey];
    if (row[thinkingKey] === null) return { unsupported: `its ${thinkingKey} is null` };
    const writer = own === null ? plain : writers(isTrue(own));
    const ids: number[] = [];
    const trained: boolean[] = [];
    for (const [at, message] of messages.list.entries()) {
      const made = alone(message, writer, tokenizer, at === 0 && tools ? { tools: tools as unknown[] } : {});
      if (typeof made === 'string')
        return { stops: `message ${at} is refused by the chat template by itself: ${made}` };
      const cut = at !== 0 && message.role !== 'system' ? made.slice(fixed.system) : made;
      ids.push(...cut);
      const answer = message.role === 'assistant';
      trained.push(...cut.map((_, column) => answer && column >= fixed.opener));
    }
    const whole = writer.render(messages.list, tools ? { tools: tools as unknown[] } : {});
    if ('problem' in whole) return { stops: `the chat template refuses the conversation: ${whole.problem}` };
    const expected = tokenizer.encode(whole.text);
    const same = expected.length === ids.length && expected.every((id, at) => id === ids[at]);
    if (!same && value('data.ignore_input_ids_mismatch') !== true)
      return {
        stops:
          'its messages rendered one by one are not the conversation rendered at once (with data.ignore_input_ids_mismatch it goes on)',
      };
    if (ids.length > limit && value('data.truncation') === 'error')
      return { stops: `it has ${ids.length} tokens, the limit is ${limit}, and data.truncation is error` };
    return {
      ids,
      trained,
      form: 'messages',
      messages: messages.list,
      ...(Array.isArray(tools) && tools.length > 0 ? { tools } : {}),
      assumed: 'each answer is trained, with all that the template writes after it',
    };
  };
}

// --- helpers ---

const MEDIA = ['images', 'videos', 'audios'];

export function prompts(
  { value }: VerlSettings,
  { tokenizer, writer, limit }: Common & { readonly writer: Writer },
): (row: JsonObject) => Ruled {
  const key = textOf(value('data.prompt_key'));
  const filter = isTrue(value('data.filter_overlong_prompts'));
  return (row) => {
    const media = MEDIA.find((name) => Array.isArray(row[name]) && row[name].length > 0);
    if (media !== undefined) return { unsupported: `it has ${media}` };
    const failed = (stops: string): Ruled =>
      filter
        ? { leftOut: `${stops}, and data.filter_overlong_prompts takes what fails for too long` }
        : { stops };
    const messages = messagesIn(row[key]);
    if ('stops' in messages) return failed(messages.stops);
    const rendered = writer.render(messages.list, { prompt: true });
    if ('problem' in rendered) return failed(`the chat template refuses the prompt: ${rendered.problem}`);
    const ids = tokenizer.encode(rendered.text);
    if (filter && ids.length > limit) return { filtered: 'data.filter_overlong_prompts' };
    return {
      ids,
      trained: ids.map(() => false),
      form: 'messages',
      messages: messages.list,
      assumed: 'rows are prompts, and nothing of them is trained: the model answers them first',
    };
  };
}

function messagesIn(value: unknown): { readonly list: readonly ChatMessage[] } | { readonly stops: string } {
  if (typeof value === 'string') return { stops: 'it has a text where verl expects a list of messages' };
  if (!Array.isArray(value) || value.length === 0)
    return { stops: `it has ${written(value)} where verl expects a list of messages` };
  if (!value.every((each) => isJsonObject(each) && typeof each.role === 'string'))
    return { stops: 'a message of it has no role' };
  return { list: value.map((each: ChatMessage) => ({ ...each, content: each.content ?? null })) };
}

/** How many tokens the template writes before the first user, and to open an answer. */
function fixedParts(
  writer: Writer,
  tokenizer: Tokenizer,
): { readonly system: number; readonly opener: number } | { readonly problem: string } {
  const empty = { role: 'user', content: '' };
  const texts = [
    writer.render([empty]),
    writer.render([empty, empty]),
    writer.render([empty], { prompt: true }),
  ];
  const lengths: number[] = [];
  for (const each of texts) {
    if ('problem' in each)
      return {
        problem: `the chat template refuses an empty question, which verl asks it first: ${each.problem}`,
      };
    lengths.push(tokenizer.encode(each.text).length);
  }
  const [one = 0, two = 0, prompted = 0] = lengths;
  // A slice of Python: one that ends at the negative of nothing is empty.
  const again = two - one;
  return {
    system: again > 0 ? Math.max(0, one - again) : again === 0 ? 0 : -again,
    opener: Math.max(0, prompted - one),
  };
}

/** One message rendered by itself; a template that wants a question first gets an empty one, whose tokens are taken off. */
function alone(
  message: ChatMessage,
  writer: Writer,
  tokenizer: Tokenizer,
  options: WriteOptions,
): Ids | string {
  const rendered = writer.render([message], options);
  if ('text' in rendered) return tokenizer.encode(rendered.text);
  const empty = { role: 'user', content: [{ type: 'text', text: '' }] };
  const before = writer.render([empty], options);
  const both = writer.render([empty, message], options);
  if (!('text' in before) || !('text' in both)) return rendered.problem;
  return tokenizer.encode(both.text).slice(tokenizer.encode(before.text).length);
}
