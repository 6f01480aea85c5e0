// Legal ways to tokenise conversations and to label them, over tokenizers with and without a BOS.
import {
  type Args,
  loadTokenizer,
  type Message,
  type Ok,
  reject,
  renderChat,
  type Tokenizer,
} from '../../../src/index.ts';
import { familyFolder } from '../../../src/tokenizers/families.ts';
import { type Legal, legal } from '../legal.ts';

type Labels = (ids: readonly number[], prompt: number, tokenizer: Tokenizer) => number[];

const everything: Labels = (ids) => [...ids];
const answerOnly: Labels = (ids, prompt) => ids.map((id, at) => (at < prompt ? -100 : id));

function family(name: string): Tokenizer {
  const loaded = loadTokenizer(familyFolder(name));
  if ('problem' in loaded) throw new Error(loaded.problem);
  return loaded.tokenizer;
}

function textOf(tokenizer: Tokenizer, messages: readonly Message[], addGenerationPrompt: boolean): string {
  const token = (id: number | undefined): string => (id === undefined ? '' : (tokenizer.token(id) ?? ''));
  const rendered = renderChat(tokenizer.chatTemplate ?? '', {
    messages,
    addGenerationPrompt,
    bosToken: token(tokenizer.bosTokenId),
    eosToken: token(tokenizer.eosTokenId),
  });
  if ('problem' in rendered) throw new Error(rendered.problem);
  return rendered.text;
}

function tokenizing(
  name: string,
  tokenizer: Tokenizer,
  labels: Labels,
  finish: (ids: readonly number[]) => readonly number[] = (ids) => ids,
  declared: Parameters<typeof legal>[2] = {},
): Legal {
  const encode = (messages: readonly Message[], add: boolean): readonly number[] =>
    tokenizer.encode(textOf(tokenizer, messages, add));
  const tokenize = ({ route, messages, add_generation_prompt: add }: Args<'tokenize'>): Ok<'tokenize'> => {
    const ids = encode(messages, add);
    if (route === 'rl' || add) return { input_ids: ids };
    const whole = finish(ids);
    const prompt = encode(messages.slice(0, -1), true).length;
    return { input_ids: whole, labels: labels(whole, prompt, tokenizer) };
  };
  return legal(name, { tokenize }, declared, tokenizer);
}

/** The text of the template, with the tokenizer's own eos behind a whole conversation. */
function appending(name: string, tokenizer: Tokenizer): Legal {
  const eos = tokenizer.token(tokenizer.eosTokenId ?? -1) ?? '';
  const render = ({ route, messages, add_generation_prompt: add }: Args<'render'>): Ok<'render'> => ({
    text: textOf(tokenizer, messages, add) + (route === 'sft' && !add ? eos : ''),
  });
  return legal(name, { render }, {}, tokenizer);
}

/** Every answer is trained through its stop token: the turns are measured by rendering the conversation up to each. */
function everyAnswer(
  name: string,
  tokenizer: Tokenizer,
  stops: readonly number[] = [tokenizer.eosTokenId ?? -1],
): Legal {
  const encode = (messages: readonly Message[], add: boolean): readonly number[] =>
    tokenizer.encode(textOf(tokenizer, messages, add));
  const tokenize = ({ messages, add_generation_prompt: add }: Args<'tokenize'>): Ok<'tokenize'> => {
    const ids = encode(messages, add);
    if (add) return { input_ids: ids };
    const answers = messages.flatMap(({ role }, at) => {
      if (role !== 'assistant') return [];
      const from = encode(messages.slice(0, at), true).length;
      return [{ from, stop: ids.findIndex((id, column) => column >= from && stops.includes(id)) }];
    });
    const trained = (column: number): boolean =>
      answers.some(({ from, stop }) => column >= from && column <= stop);
    return { input_ids: ids, labels: ids.map((id, column) => (trained(column) ? id : -100)) };
  };
  const { vocabSize: vocab_size, padTokenId: pad = stops[0] ?? 0 } = tokenizer;
  return legal(
    name,
    { tokenize },
    {
      semantics: { sft_target: 'assistant' },
      tokens: { vocab_size, pad_token_id: pad, eos_token_ids: [...stops] },
    },
    tokenizer,
  );
}

/** A trainer whose data has a question and an answer: whatever else it is sent is an error, and no refusal. */
function oneQuestion(name: string, tokenizer: Tokenizer): Legal {
  const text = (messages: readonly Message[], add: boolean): string => {
    if (messages.filter(({ role }) => role === 'user').length !== 1) throw new Error('one question, please');
    return textOf(tokenizer, messages, add);
  };
  const render = ({ messages, add_generation_prompt: add }: Args<'render'>): Ok<'render'> => ({
    text: text(messages, add),
  });
  const tokenize = ({ route, messages, add_generation_prompt: add }: Args<'tokenize'>): Ok<'tokenize'> => {
    const ids = tokenizer.encode(text(messages, add));
    if (route === 'rl' || add) return { input_ids: ids };
    const before = tokenizer.encode(text(messages.slice(0, -1), true)).length;
    return { input_ids: ids, labels: ids.map((id, column) => (column < before ? -100 : id)) };
  };
  const { vocabSize: vocab_size, eosTokenId: eos = 0, padTokenId: pad = eos } = tokenizer;
  return legal(
    name,
    { render, tokenize },
    {
      can: { render: { turns: 1, tools: true }, tokenize: { turns: 1, tools: true } },
      semantics: { sft_target: 'last-assistant' },
      tokens: { vocab_size, pad_token_id: pad, eos_token_ids: [eos] },
    },
    tokenizer,
  );
}

/** Prompts and rows of pieces, each tokenised by itself: what was sampled keeps the ids that it was sampled with. */
function inPieces(name: string, tokenizer: Tokenizer): Legal {
  const pieces = (messages: readonly Message[], add: boolean): readonly (readonly number[])[] => {
    const text = textOf(tokenizer, messages, add);
    const ends = messages.flatMap(({ role }, at) => {
      const prompt = role === 'assistant' ? textOf(tokenizer, messages.slice(0, at), true) : '';
      return prompt !== '' && text.startsWith(prompt) ? [prompt.length] : [];
    });
    return [0, ...ends].map((from, at) => tokenizer.encode(text.slice(from, ends[at])));
  };
  const tokenize = ({ route, messages, add_generation_prompt: add }: Args<'tokenize'>): Ok<'tokenize'> => {
    const all = pieces(messages, add);
    const ids = all.flat();
    if (route === 'rl' || add) return { input_ids: ids };
    const before = all.slice(0, -1).flat().length;
    return { input_ids: ids, labels: ids.map((id, at) => (at < before ? -100 : id)) };
  };
  return legal(name, { tokenize }, {}, tokenizer);
}

const llama = family('llama3');
const gemma = family('gemma');
const qwen = family('qwen');
const atMost1024 = (ids: readonly number[]): readonly number[] => ids.slice(0, 1024);
const lastStop = (ids: readonly number[]): number => ids.lastIndexOf(qwen.eosTokenId ?? -1);

/** A template that changes the question where an answer is to follow: no row begins with its prompt. */
const reminded = Object.create(qwen, {
  chatTemplate: {
    value: `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% if loop.last and add_generation_prompt %} /think{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`,
  },
}) as Tokenizer;
const lastAnswer: Labels = (ids, _, tokenizer) => {
  const text = tokenizer.decode(ids);
  const header = '<|im_start|>assistant\n';
  const before = tokenizer.encode(text.slice(0, text.lastIndexOf(header) + header.length));
  if (before.some((id, at) => id !== ids[at])) reject('the header and the answer share a token');
  return ids.map((id, at) => (at < before.length ? -100 : id));
};

export const texts: readonly Legal[] = [
  tokenizing('everything is trained, undeclared', llama, everything),
  tokenizing('only the last answer is trained', llama, answerOnly),
  tokenizing('no BOS', qwen, answerOnly),
  tokenizing('a question that is reminded of thinking', reminded, lastAnswer),
  inPieces('prompts and rows of pieces, each tokenised by itself', qwen),
  everyAnswer('every answer is trained, declared', qwen),
  oneQuestion('conversations of one question', qwen),
  appending('the text ends with eos behind the last turn', family('gemma')),
  tokenizing('no BOS, and the row ends with its stop token', qwen, answerOnly, (ids) =>
    ids.slice(0, lastStop(ids) + 1),
  ),
  tokenizing('rows are cut at 1,024 tokens, declared', qwen, answerOnly, atMost1024, {
    semantics: { cut_at: [1024] },
  }),
  tokenizing('rows are cut at 1,024 tokens, undeclared', qwen, answerOnly, atMost1024, {
    is: { cut_at: [1024] },
  }),
  tokenizing('rows above 1,024 tokens are refused', qwen, answerOnly, (ids) =>
    ids.length > 1024 ? reject('longer than 1,024 tokens') : ids,
  ),
  ...['gemma', 'mistral', 'deepseek', 'phi'].map((name) =>
    tokenizing(`the template of ${name}`, family(name), answerOnly),
  ),
  everyAnswer('the template of gemma, and its two stop tokens', gemma, [
    gemma.eosTokenId ?? 1,
    gemma.tokenId('<end_of_turn>') ?? 1,
  ]),
];
