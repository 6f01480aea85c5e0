// A row of a data set as the conversation that LLaMA-Factory makes of it, or why it leaves the row out. Source:
// llamafactory/data/converter.py, and preprocess_dataset in llamafactory/data/processor/supervised.py.
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Form } from '../../shape/shapes.ts';
import { textOf } from '../keys.ts';
import type { DatasetEntry } from './info.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Talk {
  readonly form: Form;
  readonly system: string;
  /** Question and answer by turns. */
  readonly turns: readonly Turn[];
}

export type Converted =
  | Talk
  /** The row is left out, with a warning at most. */
  | { readonly leftOut: string }
  /** The run stops. */
  | { readonly stops: string }
  /** Not among the rules here. */
  | { readonly unsupported: string };

export function convert(row: unknown, entry: DatasetEntry): Converted {
  if (!isJsonObject(row)) return { stops: 'the row is not an object' };
  const media = ['images', 'videos', 'audios'].find((kind) => filled(row, entry.columns[kind]));
  if (media !== undefined) return { unsupported: `it has ${media}` };
  if (filled(row, entry.columns.tools)) return { unsupported: 'it has tools' };
  return entry.formatting === 'alpaca' ? alpaca(row, entry) : conversation(row, entry);
}

// --- helpers ---

function filled(row: JsonObject, column: string | undefined): boolean {
  const value = column === undefined ? undefined : row[column];
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  );
}

const columnOf = (row: JsonObject, column: string | undefined): unknown =>
  column === undefined ? undefined : row[column];

function alpaca(row: JsonObject, { columns }: DatasetEntry): Converted {
  const turns: Turn[] = [];
  const history = columnOf(row, columns.history);
  for (const pair of Array.isArray(history) ? history : []) {
    if (!Array.isArray(pair) || pair.length !== 2) return { stops: 'a pair of the history is not a pair' };
    const [question, answer] = pair as readonly unknown[];
    if (typeof question !== 'string' || typeof answer !== 'string')
      return { stops: 'the history is not made of texts' };
    turns.push({ role: 'user', content: question }, { role: 'assistant', content: answer });
  }
  const query: string[] = [];
  for (const column of [columns.prompt, columns.query]) {
    const value = columnOf(row, column);
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') return { stops: `${column} is not a text` };
    query.push(value);
  }
  turns.push({ role: 'user', content: query.join('\n') });
  const answer = columnOf(row, columns.response);
  if (typeof answer !== 'string')
    return {
      leftOut:
        columns.response === undefined
          ? 'no column is its answer, since columns names no response'
          : `its answer (column ${columns.response}) is not a text`,
    };
  const system = systemOf(row, columns.system);
  if (typeof system !== 'string') return system;
  turns.push({ role: 'assistant', content: answer });
  return { form: 'instruction and output', system, turns };
}

function systemOf(row: JsonObject, column: string | undefined): string | { readonly stops: string } {
  const value = columnOf(row, column) ?? '';
  return typeof value === 'string' ? value : { stops: `${column} is not a text` };
}

function conversation(row: JsonObject, { columns, tags, formatting }: DatasetEntry): Converted {
  const { role_tag: roleTag = '', content_tag: contentTag = '', system_tag: systemTag } = tags;
  const given = columnOf(row, columns.messages);
  if (!Array.isArray(given) || !given.every(isJsonObject))
    return { stops: `${columns.messages ?? 'the column of the messages'} is not a list of messages` };
  let list: readonly JsonObject[] = given;
  let system = systemOf(row, columns.system);
  if (typeof system !== 'string') return system;
  if (systemTag !== undefined && list[0]?.[roleTag] === systemTag) {
    system = textOf(list[0][contentTag] ?? '');
    list = list.slice(1);
  }
  const turns: Turn[] = [];
  for (const [at, message] of list.entries()) {
    const name = message[roleTag];
    if (name === undefined) return { stops: `message ${at} has no ${roleTag}` };
    if (name === tags.observation_tag || name === tags.function_tag || message.tool_calls)
      return { unsupported: `it has tool calls (message ${at})` };
    const role = name === tags.user_tag ? 'user' : name === tags.assistant_tag ? 'assistant' : undefined;
    const expected = at % 2 === 0 ? 'user' : 'assistant';
    if (role === undefined || role !== expected) {
      const tag = expected === 'user' ? tags.user_tag : tags.assistant_tag;
      const wants = tag === undefined ? `tags names no ${expected}_tag` : `'${tag}' is expected there`;
      // In the format openai a name that is not a tag is looked up in a dictionary.
      if (role === undefined && formatting === 'openai')
        return { stops: `message ${at} has the role '${textOf(name)}', which is not a tag` };
      return { leftOut: `message ${at} has the role '${textOf(name)}', and ${wants}` };
    }
    const content = message[contentTag];
    if (typeof content !== 'string') return { stops: `message ${at} has no text in ${contentTag}` };
    turns.push({ role, content });
  }
  if (turns.length % 2 !== 0)
    return { leftOut: `it has ${turns.length} messages, and so its last is not an answer` };
  if (turns.length === 0) return { leftOut: 'it has no messages' };
  return {
    form: formatting === 'openai' ? 'messages' : 'conversations',
    system: formatting === 'openai' ? openaiSystem(system) : system,
    turns,
  };
}

/** OpenAIDatasetConverter puts this sentence into each conversation without tools. */
export const OPENAI_SYSTEM = 'detailed thinking off';

function openaiSystem(system: string): string {
  if (system === '') return OPENAI_SYSTEM;
  return /detailed thinking o(?:n|ff)/.test(system) ? system : `${system}\n${OPENAI_SYSTEM}`;
}
