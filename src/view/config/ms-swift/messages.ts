// Rows of a data set as messages, as ms-swift reads them: the columns of the whole data set decide. Source: AutoPreprocessor
// in swift/dataset/preprocessor/core.py.
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { ChatMessage } from '../../shape/messages.ts';
import type { Form } from '../../shape/shapes.ts';
import type { Ruled, Tokens } from '../rows.ts';

export interface Talk {
  readonly form: Form;
  readonly messages: readonly ChatMessage[];
}

/** What a row may be besides. */
type Refused = Exclude<Ruled, Tokens>;

export function messagesOf(row: JsonObject, columns: ReadonlySet<string>): Talk | Refused {
  const media = MEDIA.find((name) => row[name] !== undefined && row[name] !== null);
  if (media !== undefined) return { unsupported: `it has ${media}` };
  const keys = ['messages', 'conversations', 'conversation'].filter((each) => columns.has(each));
  const [key, another] = keys;
  if (another !== undefined) return { unsupported: `the data set has ${keys.join(' and ')}` };
  if (key !== undefined) return talkOf(row, key);
  return answerOf(row, columns);
}

// --- helpers ---

const MEDIA = [
  'images',
  'image',
  'videos',
  'video',
  'audios',
  'audio',
  'tools',
  'objects',
  'chat_template_kwargs',
  'channel',
];
const ROLES: Readonly<Record<string, string>> = {
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  gpt: 'assistant',
  bot: 'assistant',
  system: 'system',
};

function talkOf(row: JsonObject, key: string): Talk | Refused {
  const given = row[key];
  if (!Array.isArray(given) || given.length === 0) return { leftOut: `its ${key} is no list of messages` };
  const messages: ChatMessage[] = [];
  for (const each of given) {
    if (!isJsonObject(each)) return { leftOut: 'a message of it is no mapping' };
    const role = each.role ?? each.from;
    const content = each.content ?? each.value;
    if (each.tool_calls !== undefined && each.tool_calls !== null)
      return { unsupported: 'it has tool calls' };
    if (typeof role !== 'string') return { unsupported: 'a message of it has no role' };
    const own = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
    if (own === undefined)
      return /^(?:tool|function|observation)/.test(role)
        ? { unsupported: `a message has the role ${role}` }
        : { leftOut: `a message of it has the role ${role}, which ms-swift does not know` };
    if (content === null || content === undefined) return { leftOut: 'a message of it has no content' };
    if (typeof content !== 'string') return { unsupported: 'a content of it is no text' };
    messages.push({ ...each, role: own, content });
  }
  const system = row.system ?? row.system_prompt;
  if (typeof system === 'string' && messages[0]?.role !== 'system')
    messages.unshift({ role: 'system', content: system });
  return { form: key === 'messages' ? 'messages' : 'conversations', messages };
}

/** Columns that are the question or the answer, where the data set has one of them. */
const QUESTIONS = ['query', 'prompt', 'input', 'instruction', 'question', 'problem'];
const ANSWERS = [
  'response',
  'answer',
  'output',
  'targets',
  'target',
  'answer_key',
  'answers',
  'solution',
  'text',
  'completion',
  'content',
];

function answerOf(row: JsonObject, columns: ReadonlySet<string>): Talk | Refused {
  const own = (names: readonly string[]): string | undefined => {
    const [first, second] = names.filter((name) => columns.has(name));
    return names[0] !== undefined && columns.has(names[0])
      ? names[0]
      : second === undefined
        ? first
        : undefined;
  };
  const alpaca = columns.has('instruction') && columns.has('input');
  const answer = alpaca && columns.has('output') ? 'output' : own(ANSWERS);
  const question = alpaca ? undefined : own(QUESTIONS);
  if (answer === undefined)
    return {
      unsupported: `its columns (${[...columns].slice(0, SHOWN).join(', ')}) name no answer, or several`,
    };
  const joined = [row.instruction, row.input]
    .filter((each) => typeof each === 'string' && each !== '')
    .join('\n');
  const asked = alpaca ? joined : question === undefined ? null : row[question];
  const replied = row[answer];
  const history = row.history ?? [];
  if (!Array.isArray(history)) return { unsupported: 'its history is a text' };
  if (typeof replied !== 'string' || (asked !== null && typeof asked !== 'string'))
    return { unsupported: 'its question or its answer is no text' };
  const system = row.system ?? row.system_prompt;
  const pairs = history.filter((each): each is [string, string] => Array.isArray(each) && each.length === 2);
  return {
    form: alpaca ? 'instruction and output' : 'prompt and completion',
    messages: [
      ...(typeof system === 'string' ? [{ role: 'system', content: system }] : []),
      ...[...pairs, [asked, replied] as const].flatMap(([left, right]) => [
        ...(left === null ? [] : [{ role: 'user', content: left }]),
        { role: 'assistant', content: right },
      ]),
    ],
  };
}

/** Names of columns in a sentence. */
const SHOWN = 6;
