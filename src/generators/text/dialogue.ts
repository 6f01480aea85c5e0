// Conversations as trainers get them: whole ones with the answer to train on, and prompts with a forced completion.
import fc from 'fast-check';
import type { Ids, Message, Tokens } from '../../vocabulary.ts';
import { rarely } from '../rarely.ts';
import {
  ABORTED_ONE_IN,
  endsFurther,
  FURTHER_STOP,
  repeated,
  repeats,
  sampled,
  withRepeats,
} from '../rollouts/batch.ts';
import { conversation, conversationLabels, type Taken } from './conversation.ts';
import { templateSource } from './template.ts';
import { plainContent } from './text.ts';

/** A conversation that ends with an answer, and the chat template to render it with, where one is sent along. */
export interface Dialogue {
  readonly messages: readonly Message[];
  readonly template: string | null;
}

/** `templates`: the trainer takes a chat template along with the request, which may take what its own refuses. */
export function dialogue(options: Taken & { readonly templates: boolean }): fc.Arbitrary<Dialogue> {
  const source = templateSource().map((made) => made.source);
  const messages = conversation({
    endsWith: 'assistant',
    system: true,
    rarelySystem: options.rarelySystem === true && !options.templates,
    tools: options.tools === true,
    turns: { min: 1, max: options.once ? 1 : 3 },
    content: plainContent(),
  });
  return fc.record({
    messages: fc
      .tuple(messages, fc.nat(NEWLINE_ONE_IN - 1))
      .map(([made, drawn]) => (drawn === NEWLINE_ONE_IN - 1 ? withNewline(made) : made)),
    template: options.templates ? fc.option(source) : fc.constant(null),
  });
}

/** So many answers begin with a line end: some tokenizers make one token of it and the header's. */
const NEWLINE_ONE_IN = 5;

const withNewline = (messages: readonly Message[]): Message[] =>
  messages.map((message, at) =>
    at === messages.length - 1 ? { ...message, content: `\n${message.content}` } : message,
  );

/** What a dialogue exercises. */
export function dialogueLabels({ messages, template }: Dialogue): string[] {
  return [...conversationLabels(messages), ...(template === null ? [] : ['template sent along'])];
}

/** Prompts with the completions that the sampler is made to emit. */
export interface Rollouts {
  readonly rows: readonly { readonly messages: readonly Message[]; readonly sampled: Ids }[];
}

const MAX_ROLLOUTS = 3;

/** Arbitrary prompts, as conversations, with the ids that the sampler is made to emit for each. */
export function rollouts(
  tokens: Tokens | undefined,
  options: Taken & {
    /** Some are ended before their first token. */
    readonly unfinished?: boolean;
  } = {},
): fc.Arbitrary<Rollouts> {
  // Where the pad is a stop token, an empty completion looks like one that stopped at once.
  const unfinished =
    options.unfinished === true && tokens?.eos_token_ids.includes(tokens.pad_token_id) === false;
  const row = fc.record({
    again: repeated(),
    messages: conversation({
      endsWith: 'user',
      system: true,
      rarelySystem: options.rarelySystem === true,
      tools: options.tools === true,
      turns: { min: 1, max: options.once ? 1 : 2 },
      content: plainContent(),
    }),
    sampled: sampled(tokens),
    aborted: unfinished ? rarely(ABORTED_ONE_IN) : fc.constant(false),
  });
  return fc.array(row, { minLength: 1, maxLength: MAX_ROLLOUTS, size: 'max' }).map((rows) => {
    const prompts = withRepeats(rows, ({ messages }) => messages);
    return {
      rows: rows.map((made, at) => ({
        messages: prompts[at] ?? made.messages,
        sampled: made.aborted ? [] : made.sampled,
      })),
    };
  });
}

/** What rollouts exercise; `stops`: the trainer's stop ids, the tokenizer's eos first. */
export function rolloutLabels({ rows }: Rollouts, stops: Ids = []): string[] {
  const lengths = new Set(rows.map((row) => row.sampled.length));
  return [
    rows.length > 1 ? 'several rows' : 'one row',
    ...(lengths.size > 1 ? ['unequal completions'] : []),
    ...(lengths.has(0) ? ['empty completion'] : []),
    ...(repeats(rows.map(({ messages }) => messages)) ? ['repeated prompt'] : []),
    ...(rows.some(({ sampled }) => endsFurther(sampled, stops)) ? [FURTHER_STOP] : []),
  ];
}
