// Chat templates as the harness renders them: @huggingface/jinja with the variables that transformers'
// apply_chat_template passes. What still differs from Jinja2 is listed in knownDifferences.
import { lengthOfTexts, onOneLine } from '../outside/text.ts';
import type { Message } from '../vocabulary.ts';
import { Budget } from './deadline.ts';
import { compileTemplate } from './jinja/compile.ts';
import { pythonCalls, Refusal } from './jinja/python-calls.ts';
import { recent } from './recent.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Constructs whose text differs from Python's for the same conversation; generated templates use none of them. */
export const knownDifferences: readonly string[] = [
  'messages are compared by reference, not by content (message == user_messages[-1])',
  'tojson writes 1e-7 and 1 where Python writes 1e-07 and 1.0',
  'none and lists become text differently ([None], {...})',
  "'' != false is true in Python and false here",
  'strftime_now reads the clock; pass date_string instead',
];

export interface RenderOptions {
  readonly messages: readonly Message[];
  readonly addGenerationPrompt: boolean;
  readonly bosToken?: string | undefined;
  readonly eosToken?: string | undefined;
  readonly tools?: readonly unknown[];
  /** Further variables of the template, such as `enable_thinking` or `date_string`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The template that this one was made of, whose time it takes. */
  readonly madeOf?: string;
}

export type Rendered =
  | { readonly text: string }
  /** `raised`: the template itself refused the conversation with raise_exception. */
  | { readonly problem: string; readonly raised?: true };

/** The text of a conversation, exactly as the tokenizer is to see it (BOS included where the template writes it). */
export function renderChat(template: string, options: RenderOptions): Rendered {
  if (template.includes('strftime_now')) return render(template, options);
  const key = JSON.stringify([template, options]);
  const known = renderings.get(key);
  if (known !== undefined) return known;
  const rendered = render(template, options);
  // Whether it comes to an end may depend on what else the template was given.
  if ('text' in rendered && key.length <= LONGEST_KEPT) renderings.set(key, rendered);
  return rendered;
}

/** Enough for the conversations of one op; each takes a few kB. */
const MOST_RENDERINGS = 4_096;
/** A conversation of a data set that is this long comes once. */
const LONGEST_KEPT = 16_384;
const renderings = recent<Rendered>(MOST_RENDERINGS);

function render(template: string, options: RenderOptions): Rendered {
  const compiled = compileTemplate(template);
  if ('problem' in compiled) return { problem: `The chat template: ${compiled.problem}` };
  const watch = watchOf(options.madeOf ?? template);
  const characters = lengthOfTexts([options.messages, options.tools]);
  // It is waited for once: there are hundreds of conversations.
  if (characters >= watch.endlessFrom) return { problem: TOO_LONG };
  try {
    const variables = {
      ...options.extra,
      ...pythonCalls,
      messages: options.messages,
      add_generation_prompt: options.addGenerationPrompt,
      // transformers passes None for these two where there are none, and leaves unset special tokens undefined.
      tools: options.tools ?? null,
      documents: null,
      ...(options.bosToken === undefined ? {} : { bos_token: options.bosToken }),
      ...(options.eosToken === undefined ? {} : { eos_token: options.eosToken }),
    };
    const size = { characters, messages: options.messages.length };
    const rendered = compiled.template.render(variables, size, watch.budget);
    if ('done' in rendered) return { text: rendered.done };
    watch.endlessFrom = characters;
    return { problem: TOO_LONG };
  } catch (error) {
    const reason = onOneLine(error instanceof Error ? error.message : String(error), SHOWN_REASON);
    if (error instanceof Refusal)
      return { problem: `The chat template refuses the conversation: ${reason}`, raised: true };
    return { problem: `The chat template fails on the conversation: ${reason}` };
  }
}

/** Of what a template says to the conversation: a line of its own would look like one of ours. */
const SHOWN_REASON = 500;

const TOO_LONG =
  'The chat template does not come to an end on the conversation in the time that it is given; look at its loops and macros, or give another template.';

/** Why a template is of no use, or `{}`: it compiles, and comes to an end on a short conversation. */
export function checkTemplate(source: string): { readonly problem?: string } {
  const compiled = compileTemplate(source);
  if ('problem' in compiled) return { problem: compiled.problem };
  for (const addGenerationPrompt of [true, false])
    renderChat(source, { messages: SHORT, addGenerationPrompt });
  // What it refuses or fails on is for those to tell who have a conversation.
  return Number.isFinite(watchOf(source).endlessFrom)
    ? {
        problem:
          'it does not come to an end on a conversation of two messages; look at its loops and macros.',
      }
    : {};
}

const SHORT: readonly Message[] = [
  { role: 'user', content: 'Hello.' },
  { role: 'assistant', content: 'Hello.' },
];

/** What is known of the time that a template takes. */
interface Watch {
  readonly budget: Budget;
  /** Characters of the shortest conversation that it did not come to an end on; shorter ones may be well. */
  endlessFrom: number;
}

const WATCHED_TEMPLATES = 64;
const watches = recent<Watch>(WATCHED_TEMPLATES);

function watchOf(template: string): Watch {
  const known = watches.get(template);
  if (known !== undefined) return known;
  const watch = { budget: new Budget(), endlessFrom: Number.POSITIVE_INFINITY };
  watches.set(template, watch);
  return watch;
}

/** The special tokens that a template may print, of this tokenizer: spread it into the options of renderChat. */
export function templateTokens(tokenizer: Tokenizer): Pick<RenderOptions, 'bosToken' | 'eosToken'> {
  const { bosTokenId, eosTokenId } = tokenizer;
  return {
    bosToken: bosTokenId === undefined ? undefined : tokenizer.token(bosTokenId),
    eosToken: eosTokenId === undefined ? undefined : tokenizer.token(eosTokenId),
  };
}
