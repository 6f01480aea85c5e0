// Messages as data sets write them: {role, content}, or ShareGPT's {from, value}.
import { isJsonObject } from '../../outside/decoded.ts';
import { trainFields } from './train-flags.ts';

/** A message as the template gets it, with whatever else the row says of it. */
export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly [further: string]: unknown;
}

interface Unread {
  readonly problem: string;
}

/** Roles that chat templates know. */
export const KNOWN_ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

/** A list of {role, content}, or one alone; `what` names it in the complaint. */
export function messagesOf(value: unknown, what = 'messages'): readonly ChatMessage[] | Unread {
  if (typeof value === 'string')
    return {
      problem: `${what} is a text, not a list of {"role", "content"}; where it is JSON, json.loads makes it one.`,
    };
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0) return { problem: `${what} is empty.` };
  const messages: ChatMessage[] = [];
  for (const [at, message] of list.entries()) {
    if (!isJsonObject(message)) return { problem: `${what} is not a list of {"role", "content"}.` };
    if (typeof message.role !== 'string')
      return {
        problem:
          'from' in message
            ? `Message ${at} of ${what} is written as {"from", "value"}; that shape belongs under the key conversations.`
            : `Message ${at} of ${what} has no role.`,
      };
    if (message.content === undefined && message.tool_calls === undefined)
      return { problem: `Message ${at} of ${what} (${message.role}) has no content.` };
    messages.push({ ...message, role: message.role, content: message.content ?? '' });
  }
  return messages;
}

/** ShareGPT's turns as messages; a speaker that is none of the known ones keeps its name as its role. */
export function turnsOf(value: unknown): readonly ChatMessage[] | Unread {
  if (!Array.isArray(value) || value.length === 0)
    return { problem: 'conversations is not a list of turns.' };
  // Some data sets write messages under this key.
  if (value.some((turn) => typeof turn === 'object' && turn !== null && 'role' in turn))
    return messagesOf(value, 'conversations');
  const messages: ChatMessage[] = [];
  for (const [at, each] of value.entries()) {
    const turn = recordOf(each);
    if (typeof turn.from !== 'string' || typeof turn.value !== 'string')
      return { problem: `Turn ${at} of conversations is not {"from": text, "value": text}.` };
    messages.push({
      ...trainFields(turn),
      role: ROLE_OF_SPEAKER[turn.from] ?? turn.from,
      content: turn.value,
    });
  }
  return messages;
}

/** The text of a content: itself, or its text parts joined. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => {
      const text = typeof part === 'object' && part !== null ? (part as { text?: unknown }).text : part;
      return typeof text === 'string' ? text : '';
    })
    .join('');
}

/** A call of a tool: its name, and its arguments as the row has them. */
export interface Call {
  readonly name: string;
  readonly given: unknown;
}

/** The calls that a message makes besides, or in place of, what it says. */
export function callsOf({ tool_calls }: ChatMessage): readonly Call[] {
  if (!Array.isArray(tool_calls)) return [];
  return tool_calls.flatMap((each: unknown) => {
    const call = recordOf(recordOf(each).function ?? each);
    return typeof call.name === 'string' ? [{ name: call.name, given: call.arguments }] : [];
  });
}

/** What a message says to itself, in the field of its own that some data sets have; '' where there is none. */
export function thoughtOf({ reasoning_content, thinking }: ChatMessage): string {
  if (typeof reasoning_content === 'string' && reasoning_content !== '') return reasoning_content;
  return typeof thinking === 'string' ? thinking : '';
}

// --- helpers ---

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

const ROLE_OF_SPEAKER: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  model: 'assistant',
  system: 'system',
  tool: 'tool',
  observation: 'tool',
};
