// What a row of a data set says, whichever of the field's shapes it is written in: a conversation, a text, or ids.
import { parseStrict } from '../../outside/json.ts';
import { idsShape } from './ids-shape.ts';
import { type ChatMessage, messagesOf, turnsOf } from './messages.ts';
import type { Form, Shape, Unread } from './shapes.ts';

/** One shape, two for a preference pair; or why the row is none that is known. */
export function shapesOf(value: unknown): readonly Shape[] | Unread {
  if (Array.isArray(value)) return chatShapes('messages', messagesOf(value));
  if (typeof value !== 'object' || value === null)
    return { problem: `The row is ${nameOfValue(value)}, not an object.` };
  const row = value as Row;
  const shapes = textualShapes(row);
  if (row.input_ids === undefined) return shapes;
  const [kept] = 'problem' in shapes || shapes.length > 1 ? [] : shapes;
  return idsShape(row, kept?.kind === 'chat' ? kept : undefined);
}

// --- helpers ---

type Row = Readonly<Record<string, unknown>>;
/** Names of a row's keys shown where it is of no known shape. */
const SHOWN_KEYS = 8;

function textualShapes(row: Row): readonly Shape[] | Unread {
  if (row.messages !== undefined) return chatShapes('messages', withMask(messagesOf(row.messages), row), row);
  const turns = row.conversations ?? row.conversation;
  if (turns !== undefined)
    return chatShapes('conversations', withSystem(withMask(turnsOf(turns), row), row), row);
  if (row.chosen !== undefined || row.rejected !== undefined) return preference(row);
  if (row.prompt !== undefined && row.completion !== undefined)
    return pair('prompt and completion', row.prompt, row.completion, row);
  if (typeof row.text === 'string') return [{ kind: 'text', form: 'text', text: row.text }];
  if (typeof row.instruction === 'string' && typeof row.output === 'string') return alpaca(row);
  const keys = Object.keys(row);
  const shown = keys.slice(0, SHOWN_KEYS).join(', ') + (keys.length > SHOWN_KEYS ? ', ...' : '');
  const has = keys.length === 0 ? 'no keys' : `the keys ${shown}`;
  if (row.prompt !== undefined && keys.length === 1)
    return {
      problem: 'The row has a prompt and no completion: nothing of it is trained by supervised fine-tuning.',
    };
  return {
    problem: `The row has ${has}; none of these is read: messages, conversations, prompt and completion, chosen and rejected, text, instruction and output, input_ids. dataset.rename_columns({"question": "prompt", "answer": "completion"}) makes a row that is.`,
  };
}

function chatShapes(
  form: Form,
  messages: readonly ChatMessage[] | Unread,
  row: Row = {},
): readonly Shape[] | Unread {
  if ('problem' in messages) return messages;
  return [{ kind: 'chat', form, messages, ...toolsOf(row) }];
}

/** A mask of the messages, one value each, in a column of its own; beside ids it is the mask of these. */
function withMask(messages: readonly ChatMessage[] | Unread, row: Row): readonly ChatMessage[] | Unread {
  const { loss_mask: mask } = row;
  const own =
    !('problem' in messages) &&
    row.input_ids === undefined &&
    Array.isArray(mask) &&
    mask.length === messages.length;
  return own ? messages.map((message, at) => ({ ...message, loss_mask: mask[at] as unknown })) : messages;
}

/** ShareGPT keeps the system message in a column of its own, if not among the turns. */
function withSystem(messages: readonly ChatMessage[] | Unread, row: Row): readonly ChatMessage[] | Unread {
  if ('problem' in messages || messages[0]?.role === 'system') return messages;
  return [...systemOf(row), ...messages];
}

function systemOf({ system }: Row): ChatMessage[] {
  return typeof system === 'string' && system !== '' ? [{ role: 'system', content: system }] : [];
}

/** A list, or the JSON of one, as data sets with one column type have it. */
function toolsOf(row: Row): { tools?: readonly unknown[] } {
  const tools = typeof row.tools === 'string' ? parsed(row.tools) : row.tools;
  return Array.isArray(tools) && tools.length > 0 ? { tools } : {};
}

function parsed(text: string): unknown {
  const read = parseStrict(text);
  return 'ok' in read ? read.ok : undefined;
}

function pair(form: Form, prompt: unknown, completion: unknown, row: Row): readonly Shape[] | Unread {
  if (typeof prompt === 'string' && typeof completion === 'string')
    return [{ kind: 'text', form, prompt, text: completion }];
  if (typeof completion === 'string' || typeof prompt === 'string')
    return {
      problem: `The prompt and the ${form === 'prompt and completion' ? 'completion' : form} have different forms: one is text and the other messages. Write both in one way.`,
    };
  const before = messagesOf(prompt, 'prompt');
  if ('problem' in before) return before;
  const after = messagesOf(completion, form === 'prompt and completion' ? 'completion' : form);
  if ('problem' in after) return after;
  return [{ kind: 'chat', form, messages: [...before, ...after], prompt: before.length, ...toolsOf(row) }];
}

function preference(row: Row): readonly Shape[] | Unread {
  const { prompt, chosen, rejected } = row;
  if (chosen === undefined || rejected === undefined)
    return {
      problem: `The row has ${chosen === undefined ? 'rejected' : 'chosen'} alone; a preference needs chosen and rejected.`,
    };
  const shapes: Shape[] = [];
  for (const [form, answer] of [
    ['chosen', chosen],
    ['rejected', rejected],
  ] as const) {
    // A prompt that is text beside messages is there to be read: the messages have the question as well.
    const whole = prompt === undefined || (typeof prompt === 'string' && typeof answer !== 'string');
    const made = whole ? wholeAnswer(form, chosen, rejected, row) : pair(form, prompt, answer, row);
    if ('problem' in made) return made;
    shapes.push(...made);
  }
  return shapes;
}

/** Without a prompt, what chosen and rejected have in common in front is the prompt. */
function wholeAnswer(
  form: 'chosen' | 'rejected',
  chosen: unknown,
  rejected: unknown,
  row: Row,
): readonly Shape[] | Unread {
  if (typeof chosen === 'string' && typeof rejected === 'string') {
    let at = 0;
    while (at < chosen.length && chosen[at] === rejected[at]) at++;
    // As TRL cuts: the space before what differs belongs to the answer.
    const cut = chosen[at - 1] === ' ' ? at - 1 : at;
    const own = form === 'chosen' ? chosen : rejected;
    return [{ kind: 'text', form, prompt: own.slice(0, cut), text: own.slice(cut) }];
  }
  const [left, right] = [messagesOf(chosen, 'chosen'), messagesOf(rejected, 'rejected')];
  if ('problem' in left) return left;
  if ('problem' in right) return right;
  const own = form === 'chosen' ? left : right;
  const differ = left.findIndex((message, at) => JSON.stringify(message) !== JSON.stringify(right[at]));
  const lastAnswer = own.findLastIndex(({ role }) => role === 'assistant');
  const prompt = differ < 0 ? Math.max(0, lastAnswer) : differ;
  return [{ kind: 'chat', form, messages: own, prompt, ...toolsOf(row) }];
}

/** `history` are pairs of an earlier question and its answer. */
function alpaca(row: Row): readonly Shape[] {
  const input = typeof row.input === 'string' && row.input !== '' ? `\n${row.input}` : '';
  const pairs = (Array.isArray(row.history) ? row.history : []).filter(
    (pair): pair is string[] => Array.isArray(pair) && pair.length === 2,
  );
  const messages = [
    ...systemOf(row),
    ...pairs.flatMap(([question = '', answer = '']) => [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ]),
    { role: 'user', content: `${String(row.instruction)}${input}` },
    { role: 'assistant', content: String(row.output) },
  ];
  return [{ kind: 'chat', form: 'instruction and output', messages }];
}

function nameOfValue(value: unknown): string {
  return value === null ? 'null' : typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
