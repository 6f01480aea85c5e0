// Conversations as axolotl makes them: rendered and tokenised once, each trained turn found by rendering another content in
// its place, and the tokens that end a turn by their ids. Source: ChatTemplateStrategy in
// axolotl/prompt_strategies/chat_template.py.

import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import { parseStrict } from '../../../outside/json.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { ChatMessage } from '../../shape/messages.ts';
import { trainFields } from '../../shape/train-flags.ts';
import type { WriteOptions, Writer } from '../../writer.ts';
import type { ConfigFile } from '../file.ts';
import { textOf } from '../keys.ts';
import type { Ruled } from '../rows.ts';
import type { DatasetEntry } from './datasets.ts';
import { endAfter, spanOf } from './spans.ts';

export interface ChatEntry {
  readonly part: string;
  readonly field: string;
  /** By the template's name for it, the row's. */
  readonly properties: Readonly<Record<string, string>>;
  /** By the row's name for a role, the template's. */
  readonly roles: Readonly<Record<string, string>>;
  readonly roleTrained: ReadonlySet<string>;
  readonly eos: string;
  readonly eot: string;
  readonly eotIds: ReadonlySet<number>;
  readonly training?: string;
  readonly detail?: string;
  readonly inputs: boolean;
  readonly dropSystem: boolean;
  readonly splitThinking: boolean;
  /** The first system text is never looked for. */
  readonly mistral: boolean;
}

interface Around {
  readonly inputs: boolean;
  readonly template: string;
  readonly tokenizer: Tokenizer;
  readonly model: string;
}

export function chatEntryOf(
  { values }: ConfigFile,
  { part, given }: DatasetEntry,
  { inputs, template, tokenizer, model }: Around,
): ChatEntry {
  const thinking = textOf(given.template_thinking_key ?? 'reasoning_content');
  const mapped = isJsonObject(given.message_property_mappings) ? given.message_property_mappings : {};
  const properties = {
    role: textOf(given.message_field_role ?? mapped.role ?? 'role'),
    content: textOf(given.message_field_content ?? mapped.content ?? 'content'),
    ...Object.fromEntries(
      Object.entries(mapped)
        .filter(([key]) => key !== 'role' && key !== 'content')
        .map(([key, value]) => [key, textOf(value)]),
    ),
  };
  const roles = rolesOf(given.roles);
  const trained = Array.isArray(given.roles_to_train) ? given.roles_to_train.map(textOf) : ['assistant'];
  const eos = tokenizer.token(tokenizer.eosTokenId ?? -1);
  const named = Array.isArray(values.eot_tokens)
    ? values.eot_tokens.map(textOf)
    : eos === undefined
      ? []
      : [eos];
  const kept =
    named.length === 1 && named[0] === eos ? named : named.filter((each) => template.includes(each));
  const { message_field_training: training, message_field_training_detail: detail } = given;
  const trainEos = endOf(given.train_on_eos) ?? 'turn';
  return {
    part,
    field: textOf(given.field_messages ?? 'messages'),
    // With mappings of one's own, a thought is read only if the template has the name.
    properties: Object.keys(mapped).length === 0 ? properties : { [thinking]: thinking, ...properties },
    roles,
    roleTrained: new Set(trained.map((role) => (Object.hasOwn(roles, role) ? (roles[role] ?? role) : role))),
    eos: trainEos,
    eot: endOf(given.train_on_eot) ?? trainEos,
    eotIds: new Set(
      kept.flatMap((token) => {
        const ids = tokenizer.encode(token);
        return ids.length === 1 ? ids : [];
      }),
    ),
    ...(typeof training === 'string' ? { training } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
    inputs,
    dropSystem: given.drop_system_message === true,
    splitThinking: given.split_thinking === true,
    mistral: model.toLowerCase().includes('mistral'),
  };
}

export interface Seen {
  /** Names of train flags that a message has. */
  readonly used: Set<string>;
  /** A row of the data set has a system text beside its messages: `datasets` then gives all rows one, which may be null. */
  readonly systems: boolean;
}

export function chatRows(entry: ChatEntry, writer: Writer, seen: Seen): (row: JsonObject) => Ruled {
  const { tokenizer } = writer;
  return (row) => {
    const thread = threadOf(row, entry, writer, seen);
    if (!('turns' in thread)) return thread;
    const { turns, flags } = thread;
    const tools = toolsOf(row);
    if (tools !== undefined && 'stops' in tools) return tools;
    const options: WriteOptions = tools === undefined ? {} : { tools: tools.list };
    const rendered = writer.render(turns, options);
    if ('problem' in rendered)
      return { stops: `the chat template refuses the conversation: ${rendered.problem}` };
    const { text } = rendered;
    const ids = tokenizer.encode(text);
    const trained = ids.map(() => false);
    const ends = { eot: -1, eos: -1 };
    const isEnd = {
      eot: (id: number): boolean => entry.eotIds.has(id),
      eos: (id: number): boolean => id === tokenizer.eosTokenId,
    };
    for (const [at, turn] of turns.entries()) {
      const flag = flags[at];
      const wanted =
        flag === undefined || flag === null
          ? entry.inputs || entry.roleTrained.has(turn.role)
          : Boolean(flag);
      if (!wanted && entry.eos !== 'all' && entry.eot !== 'all') continue;
      const span = spanOf(turns, at, { text, ids, writer, options, mistral: entry.mistral });
      if (span === undefined) return { unsupported: 'its tokens cannot be laid on its text' };
      if (wanted && span.from >= 0) trained.fill(true, span.from, span.to);
      for (const kind of ['eot', 'eos'] as const) {
        const found = endAfter(ids, span.to, isEnd[kind]);
        if (found < 0 || Math.abs(found - span.to) > NEAR) continue;
        ends[kind] = found;
        if (entry[kind] === 'all' || (entry[kind] === 'turn' && wanted)) trained[found] = true;
      }
    }
    for (const kind of ['eot', 'eos'] as const)
      if (entry[kind] === 'last' && ends[kind] >= 0) trained[ends[kind]] = true;
    const others = turns.some(
      ({ role }, at) =>
        role !== 'assistant' &&
        (flags[at] === undefined || flags[at] === null
          ? entry.inputs || entry.roleTrained.has(role)
          : Boolean(flags[at])),
    );
    return {
      ids,
      trained,
      form: 'messages',
      messages: thread.shown,
      ...(tools === undefined || tools.list.length === 0 ? {} : { tools: tools.list }),
      assumed: `turns of ${entry.inputs ? 'every role' : [...entry.roleTrained].join(', ') || 'no role'} are trained${entry.training === undefined ? '' : `, unless ${entry.training} of a message says otherwise`}, and the token that ends them (train_on_eos ${entry.eos})`,
      ...(others ? { promptsTrained: true } : {}),
    };
  };
}

// --- helpers ---

/** Tokens between the words of a turn and the token that ends it. */
const NEAR = 3;

/** Another word is dropped. */
const endOf = (given: unknown): string | undefined =>
  ['all', 'turn', 'last', 'none'].find((each) => each === given);

function rolesOf(given: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(given) || Object.keys(given).length === 0)
    return {
      human: 'user',
      user: 'user',
      assistant: 'assistant',
      gpt: 'assistant',
      system: 'system',
      tool: 'tool',
    };
  return Object.fromEntries(
    Object.entries(given).flatMap(([role, sources]) =>
      Array.isArray(sources) ? sources.map((source) => [textOf(source), role]) : [],
    ),
  );
}

interface Thread {
  readonly turns: readonly ChatMessage[];
  /** What each says of itself. */
  readonly flags: readonly unknown[];
  /** The turns with the train flags that nobody reads. */
  readonly shown: readonly ChatMessage[];
}

function threadOf(
  row: JsonObject,
  entry: ChatEntry,
  { template }: Writer,
  { used, systems }: Seen,
): Thread | Ruled {
  const given = typeof row[entry.field] === 'string' ? parsed(textOf(row[entry.field])) : row[entry.field];
  if (!Array.isArray(given) || given.length === 0)
    return { stops: `it has no list of messages in the column ${entry.field}` };
  if (row.images !== undefined && row.images !== null) return { unsupported: 'it has images' };
  const turns: ChatMessage[] = [];
  const flags: unknown[] = [];
  const shown: ChatMessage[] = [];
  for (const [at, message] of given.entries()) {
    if (!isJsonObject(message)) return { stops: `message ${at} of it is no mapping` };
    const turn = turnOf(message, entry, template);
    if (!('role' in turn) || typeof turn.role !== 'string')
      return { stops: `message ${at} of it has no ${entry.properties.role ?? 'role'}` };
    if (
      entry.splitThinking &&
      turn.role === 'assistant' &&
      /<think>|<reasoning>|<\|begin_of_thought\|>/.test(textOf(turn.content ?? ''))
    )
      return { unsupported: 'it has a thought, which split_thinking parts' };
    if (entry.detail !== undefined && message[entry.detail] !== undefined && message[entry.detail] !== null)
      return { unsupported: `a message has ${entry.detail}, which trains a part of it` };
    if (Array.isArray(turn.content)) {
      const joined = joinedOf(turn.content);
      if (joined === undefined)
        return {
          unsupported: 'a content is a list of parts with train flags, or with other things than text',
        };
      turn.content = joined;
    }
    if (at === 0 && turn.role !== 'system' && systems) {
      if (typeof row.system !== 'string')
        return { stops: 'it has no system text and other rows have one, so its system message is null' };
      turns.push({ role: 'system', content: row.system });
      flags.push(undefined);
      shown.push({ role: 'system', content: row.system });
    }
    const flag = entry.training === undefined ? undefined : message[entry.training];
    if (entry.training !== undefined && flag !== undefined) used.add(entry.training);
    turns.push(turn as ChatMessage);
    flags.push(flag);
    const unread = Object.entries(trainFields(message)).filter(
      ([key]) => key !== entry.training && key !== entry.detail,
    );
    shown.push({ ...Object.fromEntries(unread), ...(turn as ChatMessage) });
  }
  const from = entry.dropSystem && turns[0]?.role === 'system' ? 1 : 0;
  return { turns: turns.slice(from), flags: flags.slice(from), shown: shown.slice(from) };
}

/** Properties by their mapping, and others only if the template asks for them. */
function turnOf(
  message: JsonObject,
  { properties, roles }: ChatEntry,
  template: string,
): Record<string, unknown> {
  const turn: Record<string, unknown> = {};
  for (const [name, own] of Object.entries(properties))
    if (message[own] !== undefined && message[own] !== null) turn[name] = message[own];
  if (typeof turn.role === 'string' && Object.hasOwn(roles, turn.role)) turn.role = roles[turn.role];
  const mapped = new Set(Object.values(properties));
  for (const [key, value] of Object.entries(message))
    if (
      !mapped.has(key) &&
      value !== null &&
      value !== undefined &&
      new RegExp(`\\b${escaped(key)}\\b`).test(template)
    )
      turn[key] = key === 'tool_calls' ? withArguments(value) : value;
  return turn;
}

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&');

/** Arguments that are JSON text become what they spell. */
function withArguments(calls: unknown): unknown {
  if (!Array.isArray(calls)) return calls;
  return calls.map((call: unknown) => {
    if (!isJsonObject(call) || !isJsonObject(call.function) || typeof call.function.arguments !== 'string')
      return call;
    return {
      ...call,
      function: { ...call.function, arguments: parsed(call.function.arguments) ?? call.function.arguments },
    };
  });
}

function parsed(text: string): unknown {
  const read = parseStrict(text);
  return 'ok' in read ? read.ok : undefined;
}

function joinedOf(parts: readonly unknown[]): string | undefined {
  let text = '';
  for (const part of parts) {
    if (!isJsonObject(part) || part.train !== undefined || part.weight !== undefined) return undefined;
    const own = part.text ?? part.content ?? part.value;
    if (typeof own !== 'string') return undefined;
    text += own;
  }
  return text;
}

function toolsOf(
  row: JsonObject,
): { readonly list: readonly unknown[] } | { readonly stops: string } | undefined {
  if (row.tools === undefined || row.tools === null) return undefined;
  const tools = typeof row.tools === 'string' ? parsed(row.tools) : row.tools;
  return Array.isArray(tools) ? { list: tools } : { stops: 'its tools are no list' };
}
