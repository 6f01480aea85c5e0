// Golden cases between text and ids: each conversation through each route, and each family's chat template where the
// trainer takes one.
import type { World } from '../../../check/property.ts';
import type { Args } from '../../../protocol/message.ts';
import { families, familyFolder } from '../../../tokenizers/families.ts';
import { readTokenizerFiles } from '../../../tokenizers/files.ts';
import type { Message, Route } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { idsOf } from '../../ids.ts';
import {
  ANSWERED,
  EDGES,
  LONG_PROMPT,
  PARALLEL_TOOLS,
  QUESTION,
  SPELLED,
  SYSTEM,
  THOUGHTS,
  TURNS,
  WITH_TOOL,
} from './conversations.ts';

interface Chat {
  readonly name: string;
  readonly route: Route;
  readonly messages: readonly Message[];
  /** Default: no. */
  readonly prompt?: true;
  readonly tools?: true;
}

const CHATS: readonly Chat[] = [
  { name: 'sft-answer', route: 'sft', messages: ANSWERED },
  { name: 'sft-system', route: 'sft', messages: SYSTEM },
  { name: 'sft-turns', route: 'sft', messages: TURNS },
  { name: 'sft-white-space', route: 'sft', messages: EDGES },
  { name: 'sft-spelled-specials', route: 'sft', messages: SPELLED },
  { name: 'sft-tool-turn', route: 'sft', messages: WITH_TOOL, tools: true },
  { name: 'sft-parallel-tools', route: 'sft', messages: PARALLEL_TOOLS, tools: true },
  { name: 'rl-prompt', route: 'rl', messages: QUESTION, prompt: true },
  { name: 'rl-long-prompt', route: 'rl', messages: LONG_PROMPT, prompt: true },
  { name: 'rl-tool-prompt', route: 'rl', messages: WITH_TOOL.slice(0, -1), prompt: true, tools: true },
  {
    name: 'rl-parallel-tools',
    route: 'rl',
    messages: PARALLEL_TOOLS.slice(0, -1),
    prompt: true,
    tools: true,
  },
  { name: 'rl-thoughts', route: 'rl', messages: THOUGHTS, prompt: true },
];

type TextOp = 'render' | 'tokenize';

function chatCase(op: TextOp, { name, route, messages, prompt, tools }: Chat): GoldenCase {
  return goldenCase(`${op}/${name}`, op, ({ hello }) => {
    const { route: routes = ['sft', 'rl'], tools: takesTools = false } = hello.ops[op] ?? {};
    if (!routes.includes(route)) return `op \`${op}\` has no route "${route}"`;
    if (asksMore(messages) && hello.ops[op]?.turns === 1) return ONE_QUESTION;
    if (tools && !takesTools) return `op \`${op}\` takes no messages of role tool`;
    return { route, messages, add_generation_prompt: prompt === true };
  });
}

function familyCase(op: TextOp, family: string): GoldenCase {
  return goldenCase(`${op}/template-${family}`, op, ({ hello }) => {
    const { route: routes = ['sft', 'rl'], chat_template: takes = false } = hello.ops[op] ?? {};
    if (hello.ops[op]?.turns === 1) return ONE_QUESTION;
    if (!takes) return `op \`${op}\` takes no chat template along`;
    const files = readTokenizerFiles(familyFolder(family));
    if ('problem' in files || files.chatTemplate === undefined) return `there is no template of ${family}`;
    return {
      route: routes[0] ?? 'sft',
      messages: LONG_PROMPT,
      add_generation_prompt: true,
      chat_template: files.chatTemplate,
    };
  });
}

const ONE_QUESTION = 'conversations ask once (turns: 1)';
const asksMore = (messages: readonly Message[]): boolean =>
  messages.filter(({ role }) => role === 'user').length > 1;

const BATCH = [TURNS, ANSWERED, SYSTEM];

const batchFor = ({ hello }: World): readonly (readonly Message[])[] =>
  hello.ops.sft_batch?.turns === 1 ? BATCH.filter((each) => !asksMore(each)) : BATCH;

const batched: readonly GoldenCase[] = [
  goldenCase('sft_batch/uneven', 'sft_batch', (world) => ({
    conversations: batchFor(world),
  })),
  goldenCase('sft_batch/one', 'sft_batch', () => ({ conversations: [ANSWERED] })),
  ...(['left', 'right'] as const).map((side) =>
    goldenCase(`sft_batch/padded-on-the-${side}`, 'sft_batch', (world) =>
      world.hello.ops.sft_batch?.padding_side?.includes(side) === true
        ? { conversations: batchFor(world), padding_side: side }
        : `op \`sft_batch\` is not asked to pad on the ${side}`,
    ),
  ),
  goldenCase('sft_batch/pad-is-a-stop', 'sft_batch', (world) => {
    if (world.hello.ops.sft_batch?.pad_token_id !== true) return 'op `sft_batch` takes no pad_token_id';
    if (world.hello.tokens === undefined) return NO_VOCABULARY;
    return { conversations: batchFor(world), pad_token_id: idsOf(world).stop(0) };
  }),
];

const PROMPTS = [QUESTION, LONG_PROMPT, THOUGHTS];
const severalPrompts = (name: string, asked: Args<'preference_batch'>): GoldenCase =>
  goldenCase(`preference_batch/${name}`, 'preference_batch', ({ hello }) =>
    hello.ops.preference_batch?.turns === 1 ? ONE_QUESTION : asked,
  );

const paired: readonly GoldenCase[] = [
  severalPrompts('uneven', {
    prompts: PROMPTS,
    chosen: ['It is 5.', 'Goodbye.', '<think>\n5 and 4\n</think>\n\nIt is 9.'],
    rejected: ['No.', 'I am a model, and have nothing to add.', 'It is 8.'],
  }),
  severalPrompts('one-begins-the-other', {
    prompts: PROMPTS.slice(0, 2),
    chosen: ['It is 5.', 'Goodbye, and thanks.'],
    rejected: ['It is 5. Or 6.', 'Goodbye'],
  }),
  goldenCase('preference_batch/empty-answer', 'preference_batch', () => ({
    prompts: PROMPTS.slice(0, 1),
    chosen: ['It is 5.'],
    rejected: [''],
  })),
];

const NO_VOCABULARY =
  'neither special ids nor a tokenizer are declared, so that no id is known to have a text';

const decoded: readonly GoldenCase[] = [
  goldenCase('decode/words', 'decode', (world) =>
    world.hello.tokens === undefined ? NO_VOCABULARY : { ids: idsOf(world).plain(0, 1, 2, 3) },
  ),
  goldenCase('decode/nothing', 'decode', ({ hello, tokenizer }) =>
    hello.tokens === undefined && tokenizer === undefined ? NO_VOCABULARY : { ids: [] },
  ),
  goldenCase('decode/stop-inside', 'decode', (world) => {
    const { plain, stop } = idsOf(world);
    if (world.hello.tokens === undefined) return NO_VOCABULARY;
    return { ids: [...plain(0, 1), stop(0), ...plain(2), stop(1)] };
  }),
  goldenCase('decode/white-space', 'decode', ({ tokenizer }) =>
    tokenizer === undefined
      ? 'no tokenizer is named (hello.tokenizer, or `tokenizer` in the configuration)'
      : { ids: tokenizer.encode(' Grüße aus 東京 👩‍💻 \n\n  now , then .') },
  ),
];

export const textCases: readonly GoldenCase[] = [
  ...(['render', 'tokenize'] as const).flatMap((op) => [
    ...CHATS.map((chat) => chatCase(op, chat)),
    ...families.map((family) => familyCase(op, family)),
  ]),
  ...batched,
  ...paired,
  ...decoded,
];
