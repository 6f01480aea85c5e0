// A row of a data set in the form that trainers read, how many tokens it has, whether a chat template takes it, and what
// it shows.
import { renderChat, templateTokens } from '../../../tokenizers/render.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Message } from '../../../vocabulary.ts';
import { textLabels } from '../../text/text.ts';
import type { DatasetForm, Exchange, Sketch } from './kinds.ts';

export interface ToolCall {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: { readonly city: string } };
}
export type DatasetMessage = Message & { readonly tool_calls?: readonly ToolCall[] };

export type DatasetRow =
  | { readonly messages: readonly DatasetMessage[]; readonly tools?: readonly unknown[] }
  | { readonly prompt: string; readonly completion: string }
  | { readonly prompt: string; readonly chosen: string; readonly rejected: string }
  | { readonly prompt: string };

export function rowOf({ system, exchanges }: Sketch, form: DatasetForm): DatasetRow {
  const { user: prompt = '', answer = '', worse = '' } = exchanges.at(-1) ?? {};
  switch (form) {
    case 'chat':
      return {
        messages: [
          ...(system === undefined ? [] : [{ role: 'system', content: system } as const]),
          ...exchanges.flatMap(messagesOf),
        ],
        ...(exchanges.some(({ tool }) => tool !== undefined) ? { tools: [WEATHER] } : {}),
      };
    case 'prompt-completion':
      return { prompt, completion: answer };
    case 'preference':
      return { prompt, chosen: answer, rejected: worse };
    case 'prompt':
      return { prompt };
  }
}

/** Tokens that a trainer makes of it, a stop token behind an answer included; of a preference, of its longer half. */
export function tokensOf(row: DatasetRow, tokenizer: Tokenizer | undefined): number | Refused {
  if ('messages' in row) return chatTokens(row, tokenizer);
  const answers =
    'completion' in row ? [row.completion] : 'chosen' in row ? [row.chosen, row.rejected] : [''];
  const lengths = answers.map((answer) => textTokens(row.prompt + answer, tokenizer));
  return Math.max(...lengths) + STOP;
}

export interface Refused {
  readonly why: string;
}

/** What the row shows, as labels. `most`: the tokens that a row may have. */
export function rowLabels(
  row: DatasetRow,
  tokenizer: Tokenizer | undefined,
  most: number,
): readonly string[] {
  const { prompts, answers } = partsOf(row);
  const [prompt = ''] = prompts;
  const [answer = ''] = answers;
  const tokens = tokensOf(row, tokenizer);
  const labels: readonly (readonly [string, boolean])[] = [
    [
      'one-token answer',
      answers.some((text) => text !== '' && (tokenizer?.encode(text).length ?? text.length) === 1),
    ],
    ['empty answer', answers.includes('')],
    ['answer begins with a newline', answers.some((text) => text.startsWith('\n'))],
    ['answer begins with a space', answers.some((text) => text.startsWith(' '))],
    ['long prompt', prompt.length > LONG],
    [
      'long prompt, short answer',
      answers.length > 0 && prompt.length > LONG && answer.length < prompt.length / MANY,
    ],
    ['short prompt, long answer', answer.length > LONG && prompt.length < answer.length / MANY],
    ['eos text in a prompt', prompts.some((text) => hasEos(text, tokenizer))],
    [
      'answer stands in the prompt',
      answers.some((text, at) => text !== '' && prompts[at]?.includes(text) === true),
    ],
    ["answer is a role's name", answers.some((text) => ROLE.test(text))],
    [
      'as long as may be',
      typeof tokens === 'number' && tokens >= most * (tokenizer === undefined ? NEARLY : FULL),
    ],
    ...pairLabels(row),
    ...chatLabels(row),
  ];
  const shown = new Set(labels.filter(([, holds]) => holds).map(([label]) => label));
  for (const text of [...prompts, ...answers]) for (const label of textLabels(text)) shown.add(label);
  // Contents may be empty in any place; an empty answer is the one that matters.
  shown.delete('empty content');
  return [...shown];
}

/** Prompts and answers in their order; of a preference, both answers to the one prompt. */
export function partsOf(row: DatasetRow): {
  readonly prompts: readonly string[];
  readonly answers: readonly string[];
} {
  if ('messages' in row) {
    const by = (role: Message['role']): string[] =>
      row.messages.flatMap((message) => (message.role === role ? [message.content] : []));
    return { prompts: by('user'), answers: by('assistant') };
  }
  const answers = 'completion' in row ? [row.completion] : 'chosen' in row ? [row.chosen, row.rejected] : [];
  return { prompts: [row.prompt], answers };
}

// --- helpers ---

const STOP = 1;
/** Characters of a long text; so many times a short one. */
const LONG = 100;
const MANY = 8;
/** With the tokenizer a row is filled to its last token but one, without it by a guess. */
const FULL = 0.97;
const NEARLY = 0.85;
/** Without the tokenizer: tokens around the content of a message, at most in any family known. */
const AROUND_MESSAGE = 16;
const ROLE = /^(assistant|user|model|system|answer|Assistant:)$/;
const EOS =
  /<\|im_end\|>|<\/s>|<\|endoftext\|>|<\|eot_id\|>|<eos>|<end_of_turn>|<｜end▁of▁sentence｜>|<\|end\|>/;

/** A tool that every row with one has: columns of a data set have one type. */
const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

function messagesOf({ user, answer, tool }: Exchange): DatasetMessage[] {
  const call: ToolCall[] =
    tool === undefined
      ? []
      : [{ type: 'function', function: { name: 'weather', arguments: { city: tool.city } } }];
  return [
    { role: 'user', content: user },
    ...(tool === undefined
      ? []
      : [
          { role: 'assistant', content: tool.said, tool_calls: call } as const,
          { role: 'tool', content: tool.result } as const,
        ]),
    { role: 'assistant', content: answer },
  ];
}

/** Without a tokenizer its bytes: no tokenizer makes more tokens than those. */
function textTokens(text: string, tokenizer: Tokenizer | undefined): number {
  return tokenizer === undefined
    ? Buffer.byteLength(text)
    : tokenizer.encode(text, { addSpecialTokens: true }).length;
}

function chatTokens(
  { messages, tools }: Extract<DatasetRow, { readonly messages: unknown }>,
  tokenizer: Tokenizer | undefined,
): number | Refused {
  const template = tokenizer?.chatTemplate;
  if (tokenizer === undefined || template === undefined)
    return messages.reduce((sum, { content }) => sum + AROUND_MESSAGE + textTokens(content, tokenizer), 0);
  const rendered = renderChat(template, {
    messages,
    addGenerationPrompt: false,
    ...templateTokens(tokenizer),
    ...(tools === undefined ? {} : { tools }),
  });
  return 'problem' in rendered ? { why: rendered.problem } : tokenizer.encode(rendered.text).length;
}

function hasEos(text: string, tokenizer: Tokenizer | undefined): boolean {
  const id = tokenizer?.eosTokenId;
  const own = id === undefined ? undefined : tokenizer?.token(id);
  return own === undefined ? EOS.test(text) : text.includes(own);
}

function pairLabels(row: DatasetRow): (readonly [string, boolean])[] {
  if (!('chosen' in row)) return [];
  const { chosen, rejected } = row;
  return [
    ['halves of unequal length', chosen.length !== rejected.length],
    ['one half begins the other', chosen.startsWith(rejected) || rejected.startsWith(chosen)],
  ];
}

function chatLabels(row: DatasetRow): (readonly [string, boolean])[] {
  if (!('messages' in row)) return [];
  const { messages } = row;
  const answers = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content.length);
  const users = messages.filter(({ role }) => role === 'user').length;
  return [
    ['system message', messages[0]?.role === 'system'],
    ['no system message', messages[0]?.role !== 'system'],
    ['several turns', users > 1],
    ['unequal turns', users > 1 && Math.max(...answers) > LONG && Math.min(...answers) <= 1],
    ['tool result', messages.some(({ role }) => role === 'tool')],
  ];
}
