// Rows of a data set as messages, as torchtune's transforms make them. Source: torchtune/data/_messages.py.
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import { written } from '../keys.ts';
import type { Ruled, Tokens } from '../rows.ts';
import type { Said } from './tokens.ts';

export const SET_KINDS = [
  'chat_dataset',
  'instruct_dataset',
  'alpaca_dataset',
  'text_completion_dataset',
  'preference_dataset',
] as const;
export type SetKind = (typeof SET_KINDS)[number];

/** A data set of the configuration. */
export interface TuneSet {
  /** As the file has it: `dataset`, `dataset[1]`. */
  readonly part: string;
  readonly kind: SetKind;
  readonly style: string;
  /** Columns by what torchtune calls them. */
  readonly columns: Readonly<Record<string, string>>;
  readonly trainsInput: boolean;
  readonly system?: string;
  readonly addsEos: boolean;
  /** Why torchtune does not begin with it. */
  readonly stops?: string;
}

/** What messages have lost on the way. */
export interface Losses {
  /** A message without text got the text of the one before. */
  repeated: number;
  /** Messages with tool calls, which are not read. */
  calls: number;
}

export interface Talk {
  readonly said: readonly Said[];
  readonly form: Tokens['form'];
}

type Refused = Exclude<Ruled, Tokens>;

export function talksOf(
  row: JsonObject,
  set: TuneSet,
  { losses, alpaca }: { readonly losses: Losses; readonly alpaca: Readonly<Record<string, string>> },
): readonly Talk[] | Refused {
  if (set.kind === 'alpaca_dataset')
    return answered(alpacaPair(row, set, alpaca), set, 'instruction and output');
  if (set.kind === 'preference_dataset') {
    const [chosen, rejected] = [preferred(row, set, 'chosen'), preferred(row, set, 'rejected')];
    if ('said' in chosen && 'said' in rejected) return [chosen, rejected];
    return 'said' in chosen ? (rejected as Refused) : chosen;
  }
  if (row.image !== undefined || (set.columns.image !== undefined && row[set.columns.image] !== undefined))
    return { unsupported: 'it has an image' };
  if (set.kind === 'instruct_dataset') {
    const [input, output] = [textIn(row, set, 'input'), textIn(row, set, 'output')];
    if (typeof input !== 'string') return input;
    if (typeof output !== 'string') return output;
    return answered({ input, output }, set, 'prompt and completion');
  }
  const made = set.style === 'sharegpt' ? shareGpt(row, set) : openAi(row, set, losses);
  if (!('said' in made)) return made;
  const wrong = orderFault(made.said);
  return wrong === undefined ? [made] : { stops: wrong };
}

// --- helpers ---

const ROLES: Readonly<Record<string, string>> = { system: 'system', human: 'user', gpt: 'assistant' };

const opening = ({ system }: TuneSet): Said[] =>
  system === undefined ? [] : [{ role: 'system', texts: [system], trained: false }];

const saidBy = (role: string, texts: readonly string[], { trainsInput }: TuneSet): Said => ({
  role,
  texts,
  trained: role === 'assistant' || trainsInput,
});

function answered(
  pair: { readonly input: string; readonly output: string } | Refused,
  set: TuneSet,
  form: Talk['form'],
): readonly Talk[] | Refused {
  if (!('input' in pair)) return pair;
  const { input, output } = pair;
  return [
    { said: [...opening(set), saidBy('user', [input], set), saidBy('assistant', [output], set)], form },
  ];
}

function textIn(row: JsonObject, { columns }: TuneSet, name: string): string | Refused {
  const value = row[columns[name] ?? name];
  return typeof value === 'string'
    ? value
    : { stops: `its ${columns[name] ?? name} is ${written(value)}, not a text` };
}

function alpacaPair(
  row: JsonObject,
  set: TuneSet,
  prompts: Readonly<Record<string, string>>,
): { readonly input: string; readonly output: string } | Refused {
  const of = (name: string): unknown => row[set.columns[name] ?? name];
  const output = textIn(row, set, 'output');
  if (typeof output !== 'string') return output;
  const [instruction, input] = [of('instruction'), of('input')];
  if (instruction === undefined) return { stops: `it has no ${set.columns.instruction ?? 'instruction'}` };
  const filled = [instruction, input ?? null].map((each) => (each === null ? 'None' : each));
  if (!filled.every((each): each is string => typeof each === 'string'))
    return { unsupported: 'its instruction or its input is no text' };
  const prompt =
    (typeof input === 'string' && input !== '' ? prompts.prompt_input : prompts.prompt_no_input) ?? '';
  return {
    input: prompt.replaceAll(
      /\{(instruction|input)\}/g,
      (_, name: string) => filled[name === 'input' ? 1 : 0] ?? '',
    ),
    output,
  };
}

function shareGpt(row: JsonObject, set: TuneSet): Talk | Refused {
  const column = set.columns.conversations ?? 'conversations';
  const given = row[column];
  if (!Array.isArray(given)) return { stops: `its ${column} is ${written(given)}, not a list of messages` };
  const said = opening(set);
  for (const each of given) {
    const role = isJsonObject(each) && typeof each.from === 'string' ? ROLES[each.from] : undefined;
    if (!isJsonObject(each) || role === undefined)
      return {
        stops: `a message of it is from ${written(isJsonObject(each) ? each.from : each)}, and torchtune knows ${Object.keys(ROLES).join(', ')}`,
      };
    if (typeof each.value !== 'string')
      return { stops: `a message of it says ${written(each.value)}, not a text` };
    if (role === 'system' && set.system !== undefined) continue;
    said.push({ ...saidBy(role, [each.value], set), more: each });
  }
  return { said, form: 'conversations' };
}

function openAi(row: JsonObject, set: TuneSet, losses: Losses): Talk | Refused {
  const column = set.columns.messages ?? 'messages';
  const given = row[column];
  if (!Array.isArray(given)) return { stops: `its ${column} is ${written(given)}, not a list of messages` };
  const said = opening(set);
  let before: readonly string[] | undefined;
  for (const each of given) {
    if (!isJsonObject(each) || typeof each.role !== 'string') return { stops: 'a message of it has no role' };
    if (each.role === 'system' && set.system !== undefined) continue;
    const texts = contentOf(each.content);
    if (texts !== undefined && !Array.isArray(texts)) return texts as Refused;
    if (Array.isArray(each.tool_calls) && each.tool_calls.length > 0) losses.calls++;
    if (texts === undefined) {
      if (before === undefined) return { stops: `its first message has ${written(each.content)} for a text` };
      losses.repeated++;
    }
    before = texts ?? before ?? [];
    if (each.role === 'ipython') return { unsupported: 'a message of it has the role ipython' };
    said.push({ ...saidBy(each.role, before, set), more: each });
  }
  return { said, form: 'messages' };
}

/** undefined: neither a text nor a list, for which torchtune takes that of the message before. */
function contentOf(content: unknown): readonly string[] | Refused | undefined {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return undefined;
  const texts: string[] = [];
  for (const part of content) {
    if (!isJsonObject(part) || typeof part.type !== 'string')
      return { stops: 'a part of a message has no type' };
    if (part.type === 'image_url') return { unsupported: 'it has an image' };
    if (part.type !== 'text') continue;
    if (typeof part.text !== 'string') return { stops: 'a part of a message has no text' };
    texts.push(part.text);
  }
  return texts;
}

function preferred(row: JsonObject, set: TuneSet, name: 'chosen' | 'rejected'): Talk | Refused {
  const column = set.columns[name] ?? name;
  const given = row[column];
  if (!Array.isArray(given)) return { stops: `its ${column} is ${written(given)}, not a list of messages` };
  const said = opening(set);
  for (const each of given) {
    if (!isJsonObject(each) || typeof each.role !== 'string')
      return { stops: `a message of ${column} has no role` };
    if (each.role === 'system' && set.system !== undefined) continue;
    if (each.role === 'ipython' || each.eot !== undefined || each.ipython !== undefined)
      return { unsupported: `a message of ${column} has eot or ipython` };
    if (typeof each.content !== 'string')
      return Array.isArray(each.content)
        ? { unsupported: `a content of ${column} is a list of parts` }
        : { stops: `a message of ${column} says ${written(each.content)}, not a text` };
    said.push({ ...saidBy(each.role, [each.content], set), more: each });
  }
  return said.length === 0 ? { stops: `its ${column} is empty` } : { said, form: name };
}

/** validate_messages. */
function orderFault(said: readonly Said[]): string | undefined {
  if (said.length < 2) return 'it has fewer than two messages';
  let last = 'assistant';
  for (const [at, { role }] of said.entries()) {
    if (role === 'assistant' && last !== 'user')
      return `message ${at} is an answer, and no question comes before it`;
    if (role === 'user' && last === 'user') return `messages ${at - 1} and ${at} are both of the user`;
    if (role === 'system' && at > 0) return `message ${at} is a system text, which has to come first`;
    last = role;
  }
  return undefined;
}
