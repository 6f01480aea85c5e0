// One line or row of a rollout file read as a sample, whoever wrote it: TRL's table of completions, verl's dumps of
// rollouts, OpenRLHF, Open-Reasoner-Zero, SkyRL, verifiers, slime, or a plain line of prompt and completion.

import type { Sample } from '../series.ts';
import {
  ADVANTAGE_KEYS,
  COMPLETION_ID_KEYS,
  COMPLETION_KEYS,
  CUT,
  FINISH_KEYS,
  GROUP_KEYS,
  METRICS,
  NO_REWARD,
  PROMPT_ID_KEYS,
  PROMPT_KEYS,
  REWARD_COLUMN,
  REWARD_KEYS,
  STEP_KEYS,
  STOPPED,
  TRUNCATED_KEYS,
  VERDICT_KEYS,
  WHOLE_ID_KEYS,
  WHOLE_KEYS,
} from './keys.ts';

/**
 * The sample in an object of a rollout file; `undefined` where the object is no rollout (a line of metrics never is).
 * `where` names file and line: `rollouts/12.jsonl line 3`. A step that the object does not tell is taken from the
 * file's name.
 */
export function sampleOf(
  object: Readonly<Record<string, unknown>>,
  where: string,
  run: string,
): Sample | undefined {
  if (Object.keys(object).some((key) => METRICS.test(key) && isNumber(object[key]))) return undefined;
  const texts = textsOf(object);
  const ids = idsOf(object);
  const reward = rewardOf(object);
  const advantage = firstOf(object, ADVANTAGE_KEYS, numberOf);
  const finish = finishOf(object);
  if (!isRollout(object, texts, ids, reward !== undefined || advantage !== undefined || finish !== undefined))
    return undefined;
  const step = firstOf(object, STEP_KEYS, numberOf) ?? stepOfFile(where);
  const group = firstOf(object, GROUP_KEYS, nameOf);
  return {
    run,
    where,
    ...(step === undefined ? {} : { step }),
    ...texts,
    ...ids,
    ...(group === undefined ? {} : { group }),
    ...(reward === undefined ? {} : { reward }),
    ...(advantage === undefined ? {} : { advantage }),
    ...(finish === undefined ? {} : { finish }),
  };
}

// --- helpers ---

type Row = Readonly<Record<string, unknown>>;
type Texts = Pick<Sample, 'prompt' | 'completion'>;
type Ids = Pick<Sample, 'promptIds' | 'completionIds'>;

/** Names that say by themselves that a model wrote it; `output` may be a folder. */
const CERTAIN = ['completion', 'completion_text', 'response', 'response_text', 'output_response'] as const;

/** A completion, and something that only a rollout has beside it. */
function isRollout(object: Row, texts: Texts, ids: Ids, judged: boolean): boolean {
  if (ids.completionIds !== undefined) return true;
  if (texts.completion !== undefined) {
    if (texts.prompt !== undefined || ids.promptIds !== undefined) return true;
    return judged && CERTAIN.some((key) => textOf(object[key]) !== undefined);
  }
  // OpenRLHF's table: step, the whole row as one text, its reward, and no other number.
  const numbers = Object.keys(object).filter((key) => isNumber(object[key]) && !TABLE.has(key));
  return (
    numbers.length === 0 &&
    wholeOf(object) !== undefined &&
    firstOf(object, REWARD_KEYS, numberOf) !== undefined
  );
}

const TABLE: ReadonlySet<string> = new Set([...STEP_KEYS, ...REWARD_KEYS, ...ADVANTAGE_KEYS]);

function textsOf(object: Row): Texts {
  const conversation = conversationOf(object.messages);
  const prompt = firstOf(object, PROMPT_KEYS, textOf) ?? conversation?.prompt;
  const completion =
    firstOf(object, COMPLETION_KEYS, textOf) ?? conversation?.completion ?? restOf(object, prompt);
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(completion === undefined ? {} : { completion }),
  };
}

const wholeOf = (object: Row): string | undefined => firstOf(object, WHOLE_KEYS, textOf);

/** Of a text that holds prompt and completion, what stands behind the prompt. */
function restOf(object: Row, prompt: string | undefined): string | undefined {
  if (prompt === undefined || prompt === '') return undefined;
  const whole = WHOLE_KEYS.map((key) => textOf(object[key])).find(
    (text) => text?.startsWith(prompt) === true && text.length > prompt.length,
  );
  return whole?.slice(prompt.length);
}

/** `messages`: all before the last answer is the prompt. */
function conversationOf(value: unknown): Required<Texts> | undefined {
  if (!Array.isArray(value) || !value.every(isMessage)) return undefined;
  const last = value.at(-1);
  if (last?.role !== 'assistant') return undefined;
  return { prompt: value.slice(0, -1).map(messageText).join('\n'), completion: messageText(last) };
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
}

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'role' in value && typeof value.role === 'string';
}

function messageText({ content, tool_calls: calls }: Message): string {
  const written = Array.isArray(calls) ? calls.map(callText).filter((call) => call !== '') : [];
  const text =
    typeof content === 'string' ? content : Array.isArray(content) ? content.map(partText).join('') : '';
  return [...(text === '' ? [] : [text]), ...written].join('\n');
}

/** Of a message with pictures, the texts. */
function partText(part: unknown): string {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string'
    ? part.text
    : '';
}

/** A call that was parsed, as it is written in a text: arguments that came as text stay what the model wrote. */
function callText(call: unknown): string {
  if (typeof call !== 'object' || call === null) return '';
  const { name, arguments: given } = ('function' in call ? (call.function ?? {}) : call) as Record<
    string,
    unknown
  >;
  if (typeof name !== 'string') return '';
  const written = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${written}}\n</tool_call>`;
}

/** A text, or a conversation as the texts of its messages. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (isMessage(value)) return messageText(value);
  if (!Array.isArray(value) || value.length === 0 || !value.every(isMessage)) return undefined;
  return value.map(messageText).join('\n');
}

function idsOf(object: Row): Ids {
  const completionIds = firstOf(object, COMPLETION_ID_KEYS, idList);
  const promptIds = firstOf(object, PROMPT_ID_KEYS, idList);
  if (completionIds !== undefined)
    return promptIds === undefined
      ? { completionIds }
      : { promptIds: withoutEnd(promptIds, completionIds), completionIds };
  const whole = firstOf(object, WHOLE_ID_KEYS, idList);
  const from = whole === undefined ? undefined : boundaryOf(object, whole);
  if (whole !== undefined && from !== undefined)
    return { promptIds: whole.slice(0, from), completionIds: whole.slice(from) };
  return promptIds === undefined ? {} : { promptIds };
}

/** `input_ids` are those of the prompt in some files and of the whole row in others. */
function withoutEnd(ids: readonly number[], end: readonly number[]): readonly number[] {
  const from = ids.length - end.length;
  return end.length > 0 && from > 0 && end.every((id, at) => ids[from + at] === id)
    ? ids.slice(0, from)
    : ids;
}

function boundaryOf(object: Row, whole: readonly number[]): number | undefined {
  const length = numberOf(object.response_length) ?? numberOf(object.completion_length);
  if (length !== undefined && length > 0 && length < whole.length) return whole.length - length;
  const mask = object.token_loss_mask ?? object.loss_mask;
  if (!Array.isArray(mask) || mask.length !== whole.length) return undefined;
  const first = mask.findIndex((each) => each === 1 || each === true);
  return first > 0 ? first : undefined;
}

function idList(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const ids = value.map((each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
  return ids.every((id): id is number => Number.isSafeInteger(id)) ? ids : undefined;
}

/** The total where the file has one; else the sum of the columns of reward functions, whose weights are 1 unless set. */
function rewardOf(object: Row): number | undefined {
  const total = firstOf(object, REWARD_KEYS, numberOf);
  if (total !== undefined) return total;
  // A reward function that does not apply to a row gives it NaN: that one says nothing, the others do.
  const columns = Object.entries(object)
    .filter(([key]) => !KNOWN.has(key) && !NO_REWARD.test(key))
    .map(([key, value]) => ({ key, value: numberOf(value) }))
    .filter(({ value }) => value !== undefined && !Number.isNaN(value));
  const named = columns.filter(({ key }) => REWARD_COLUMN.test(key));
  // Without that word in its name, a number is a reward only if it can be no other's.
  const counted = named.length > 0 ? named : columns.length === 1 && 'advantage' in object ? columns : [];
  if (counted.length > 0) return counted.reduce((sum, { value = 0 }) => sum + value, 0);
  const verdict = VERDICT_KEYS.map((key) => object[key]).find((each) => typeof each === 'boolean');
  return verdict === undefined ? undefined : Number(verdict);
}

const KNOWN: ReadonlySet<string> = new Set([...ADVANTAGE_KEYS, ...STEP_KEYS, ...GROUP_KEYS, ...VERDICT_KEYS]);

function finishOf(object: Row): Sample['finish'] {
  for (const key of FINISH_KEYS) {
    const value = object[key];
    if (typeof value !== 'string') continue;
    if (STOPPED.test(value)) return 'stop';
    if (CUT.test(value)) return 'length';
  }
  // The opposite says less: a row that is not cut may have been aborted.
  return TRUNCATED_KEYS.some((key) => object[key] === true || object[key] === 1) ? 'length' : undefined;
}

function firstOf<Value>(
  object: Row,
  keys: readonly string[],
  read: (value: unknown) => Value | undefined,
): Value | undefined {
  for (const key of keys) {
    const value = read(object[key]);
    if (value !== undefined) return value;
  }
  return undefined;
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint';

/** A number, or one as text, as CSV and tables of strings have it. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

function nameOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return isNumber(value) ? String(value) : undefined;
}

/** `12.jsonl`, `completions_00012.parquet`, `step_12.jsonl`, `eval_output_iter12_gsm8k0.53.jsonl`. */
function stepOfFile(where: string): number | undefined {
  const file =
    where
      .replace(/ (?:line|row|item) \d+.*$/, '')
      .split(/[\\/]/)
      .at(-1) ?? '';
  const found =
    /^(\d+)\.[a-z]/i.exec(file) ??
    /(?:step|iter|iteration|completions|rollouts?|samples?|generations?)[-_]?(\d+)(?![\d.]*\d)/i.exec(file);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
