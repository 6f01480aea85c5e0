// Rows as OpenRLHF makes them: prompt and answer as two texts put together, the prompt counted by itself, and EOS as the
// last token whatever was there. Source: SFTDataset in openrlhf/datasets/sft_dataset.py, prompts_dataset.py.
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Ids } from '../../../vocabulary.ts';
import type { ChatMessage } from '../../shape/messages.ts';
import type { Writer } from '../../writer.ts';
import type { Ruled } from '../rows.ts';

export type Way = 'sft' | 'ppo';

export interface RlhfSettings {
  readonly way: Way;
  readonly inputKey: string;
  readonly outputKey: string | undefined;
  readonly labelKey: string | undefined;
  readonly chat: boolean;
  readonly multiturn: boolean;
  readonly pretrain: boolean;
  /** With {} where the question goes. */
  readonly inputTemplate: string | undefined;
  readonly limit: number;
  readonly most?: number;
}

interface Around {
  readonly tokenizer: Tokenizer;
  readonly writer: Writer | undefined;
}

/** So many tokens have to be left for the answer. */
const ROOM = 2;

export function supervised(
  settings: RlhfSettings,
  { tokenizer, writer }: Around,
): (row: JsonObject) => Ruled {
  const { limit, pretrain, multiturn } = settings;
  const eos = tokenizer.eosTokenId;
  const ending = tokenizer.token(eos ?? -1) ?? '';
  const cut = (text: string): Ids => tokenizer.encode(text).slice(0, limit);
  return (row) => {
    const made = pretrain ? textOf(row, settings) : pairOf(row, settings, writer);
    if (!('prompt' in made)) return made;
    const { prompt, response, messages } = made;
    if (pretrain) {
      const ids = cut(prompt);
      return {
        ids,
        trained: ids.map((_, at) => at > 0),
        form: 'text',
        assumed: 'every token is trained, and no EOS token is put after it',
        promptsTrained: true,
      };
    }
    const asked = cut(prompt).length;
    if (prompt === '' || response === '')
      return { leftOut: `its ${prompt === '' ? 'prompt' : 'answer'} is empty` };
    if (asked >= limit - ROOM) return { filtered: 'data.max_len' };
    const ranges = multiturn ? rangesOf(messages ?? [], writer, cut) : undefined;
    if (ranges !== undefined && 'stops' in ranges) return ranges;
    const whole = (prompt + response).replace(/\n+$/, '');
    const ids = [...cut(whole.endsWith(ending) ? whole : `${whole} ${ending}`)];
    if (eos !== undefined && ids.length > 0) ids[ids.length - 1] = eos;
    const trained = ids.map((_, at) => {
      // The mask stands where a token is predicted from, so what is first is no target.
      if (at === 0) return false;
      return ranges === undefined ? at >= asked : ranges.some(([from, to]) => at >= from && at <= to);
    });
    return {
      ids,
      trained,
      form: messages === undefined ? 'prompt and completion' : 'messages',
      ...(messages === undefined ? {} : { messages }),
      assumed: multiturn
        ? 'every answer is trained, with what the template writes after it'
        : 'all that follows the prompt is trained; the last token is EOS, whatever it was',
    };
  };
}

export function prompts(settings: RlhfSettings, { tokenizer, writer }: Around): (row: JsonObject) => Ruled {
  const { inputKey, labelKey, chat, inputTemplate } = settings;
  return (row) => {
    if (row.images !== undefined && row.images !== null) return { unsupported: 'it has images' };
    if (labelKey !== undefined && row[labelKey] === undefined) return { stops: `it has no ${labelKey}` };
    const given = row[inputKey];
    let text: string;
    let messages: readonly ChatMessage[] | undefined;
    if (chat) {
      const list = typeof given === 'string' ? [{ role: 'user', content: given }] : messagesIn(given);
      if (list === undefined) return { stops: `its ${inputKey} is neither a text nor a list of messages` };
      if (JSON.stringify(list).includes('<image>')) return { unsupported: 'a text of it has <image>' };
      const rendered = writer?.render(list, { prompt: true });
      if (rendered === undefined || 'problem' in rendered)
        return { stops: `the chat template refuses the prompt: ${rendered?.problem ?? 'there is none'}` };
      text = rendered.text;
      messages = list;
    } else {
      if (typeof given !== 'string')
        return { stops: `its ${inputKey} is no text, and apply_chat_template is off` };
      text = filled(inputTemplate, given);
    }
    const ids = tokenizer.encode(text);
    return {
      ids,
      trained: ids.map(() => false),
      form: messages === undefined ? 'text' : 'messages',
      ...(messages === undefined ? {} : { messages }),
      assumed: 'rows are prompts, and nothing of them is trained: the model answers them first',
    };
  };
}

// --- helpers ---

interface Pair {
  readonly prompt: string;
  readonly response: string;
  readonly messages?: readonly ChatMessage[];
}

const filled = (template: string | undefined, text: string): string =>
  template === undefined ? text : template.replace('{}', () => text);

function textOf(row: JsonObject, { inputKey }: RlhfSettings): Pair | Ruled {
  const text = row[inputKey];
  return typeof text === 'string'
    ? { prompt: text, response: '' }
    : { stops: `it has no text in the column ${inputKey}` };
}

function pairOf(
  row: JsonObject,
  { inputKey, outputKey, chat, inputTemplate }: RlhfSettings,
  writer: Writer | undefined,
): Pair | Ruled {
  const [given, answer] = [row[inputKey], outputKey === undefined ? undefined : row[outputKey]];
  if (!chat) {
    if (outputKey === undefined) return { leftOut: 'it has no answer: data.output_key is not set' };
    if (typeof given !== 'string' || typeof answer !== 'string')
      return {
        stops: `${typeof given === 'string' ? outputKey : inputKey} is no text, and apply_chat_template is off`,
      };
    return { prompt: filled(inputTemplate, given), response: answer };
  }
  const texts = typeof given === 'string' && typeof answer === 'string';
  const before = texts ? [{ role: 'user', content: given }] : messagesIn(given);
  const after =
    outputKey === undefined ? [] : texts ? [{ role: 'assistant', content: answer }] : messagesIn(answer);
  if (before === undefined || after === undefined)
    return { stops: `its ${before === undefined ? inputKey : outputKey} is no list of messages` };
  const messages = [...before, ...after];
  const asked = outputKey === undefined ? messages.slice(0, -1) : before;
  const [prompt, whole] = [writer?.render(asked, { prompt: true }), writer?.render(messages)];
  if (prompt === undefined || whole === undefined) return { stops: 'the tokenizer has no chat template' };
  if ('problem' in prompt) return { stops: `the chat template refuses the prompt: ${prompt.problem}` };
  if ('problem' in whole) return { stops: `the chat template refuses the conversation: ${whole.problem}` };
  return { prompt: prompt.text, response: whole.text.slice(prompt.text.length), messages };
}

/** First and last token of each answer, by the lengths of the texts before it and of its own. */
function rangesOf(
  messages: readonly ChatMessage[],
  writer: Writer | undefined,
  cut: (text: string) => Ids,
): readonly (readonly [number, number])[] | { readonly stops: string } {
  const ranges: (readonly [number, number])[] = [];
  for (const [at, { role }] of messages.entries()) {
    if (role !== 'assistant') continue;
    const prompt = writer?.render(messages.slice(0, at), { prompt: true });
    const whole = writer?.render(messages.slice(0, at + 1));
    if (prompt === undefined || whole === undefined || 'problem' in prompt || 'problem' in whole)
      return { stops: `the chat template refuses the conversation up to message ${at}` };
    const from = cut(prompt.text).length;
    ranges.push([from, from + cut(whole.text.slice(prompt.text.length)).length - 1]);
  }
  return ranges;
}

function messagesIn(value: unknown): readonly ChatMessage[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (!value.every((each) => isJsonObject(each) && typeof each.role === 'string')) return undefined;
  return value as readonly ChatMessage[];
}
