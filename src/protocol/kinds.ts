// One check a kind of field: is this value what OPS says? Complaints begin with the path. Shapes that depend on
// other fields are in shapes.ts.
import { TRAIN_FLAGS } from '../vocabulary.ts';
import type { Kind } from './message.ts';
import { type Decoded, isJsonObject, shown } from './result.ts';
import { decodeTensor } from './tensor.ts';

/** The value of a field, tensors unpacked into lists; or what is wrong with it. */
export function decodeKind(kind: Kind, value: unknown, path: string): Decoded<unknown> {
  const list = LISTS[kind];
  if (list !== undefined && isJsonObject(value) && 'dtype' in value) {
    const tensor = decodeTensor(value);
    if ('complaint' in tensor) return { complaint: `${path} ${tensor.complaint}` };
    return decodeKind(kind, tensor.ok, path);
  }
  const complaint =
    list !== undefined ? listComplaint(value, path, list.depth, list) : OTHERS[kind]?.(value, path);
  return complaint === undefined ? { ok: value } : { complaint };
}

interface List {
  /** 1: a list of numbers. 2: a matrix or rows. 3: a cube. */
  readonly depth: number;
  readonly integers: boolean;
  /** All lists of one level have the same length. */
  readonly rectangular: boolean;
}

const LISTS: Readonly<Partial<Record<Kind, List>>> = {
  ints: { depth: 1, integers: true, rectangular: true },
  floats: { depth: 1, integers: false, rectangular: true },
  int_rows: { depth: 2, integers: true, rectangular: false },
  float_rows: { depth: 2, integers: false, rectangular: false },
  int_matrix: { depth: 2, integers: true, rectangular: true },
  int_track: { depth: 2, integers: true, rectangular: true },
  float_matrix: { depth: 2, integers: false, rectangular: true },
  float_track: { depth: 2, integers: false, rectangular: true },
  float_cube: { depth: 3, integers: false, rectangular: true },
};

function listComplaint(value: unknown, path: string, depth: number, list: List): string | undefined {
  if (!Array.isArray(value)) return `${path} is ${shown(value)}, expected ${LIST_WORDS[depth]}`;
  if (depth === 1) return numbersComplaint(value, path, list.integers);
  const first: unknown = value[0];
  for (let i = 0; i < value.length; i += 1) {
    const row: unknown = value[i];
    const complaint = listComplaint(row, `${path}[${i}]`, depth - 1, list);
    if (complaint !== undefined) return complaint;
    if (list.rectangular && Array.isArray(row) && Array.isArray(first) && row.length !== first.length) {
      return `${path}[${i}] has ${row.length} columns, row 0 has ${first.length}`;
    }
  }
  return undefined;
}

const LIST_WORDS = ['', 'a list of numbers', 'a list of rows', 'a list of matrices'];

function numbersComplaint(values: readonly unknown[], path: string, integers: boolean): string | undefined {
  for (let i = 0; i < values.length; i += 1) {
    const x = values[i];
    if (integers ? !Number.isSafeInteger(x) : typeof x !== 'number') {
      return `${path}[${i}] ${notNumber(x, integers)}`;
    }
  }
  return undefined;
}

function notNumber(x: unknown, integers: boolean): string {
  const expected = integers ? 'an integer' : 'a number';
  if (x === null && !integers) return 'is null, expected a number (NaN is written NaN)';
  if (typeof x === 'boolean') return `is ${x}, expected ${expected} (write ${x ? 1 : 0})`;
  if (integers && Number.isInteger(x)) return `is ${x}, beyond 2**53, where integers lose digits`;
  return `is ${shown(x)}, expected ${expected}`;
}

type Check = (value: unknown, path: string) => string | undefined;

const text: Check = (value, path) =>
  typeof value === 'string' ? undefined : `${path} is ${shown(value)}, expected a string`;
const int: Check = (value, path) =>
  Number.isSafeInteger(value) ? undefined : `${path} ${notNumber(value, true)}`;
const float: Check = (value, path) =>
  typeof value === 'number' ? undefined : `${path} ${notNumber(value, false)}`;
const ints: Check = (value, path) =>
  listComplaint(value, path, 1, { depth: 1, integers: true, rectangular: true });

const floats: Check = (value, path) =>
  listComplaint(value, path, 1, { depth: 1, integers: false, rectangular: true });

const OTHERS: Readonly<Partial<Record<Kind, Check>>> = {
  text,
  int,
  float,
  flag: (value, path) =>
    typeof value === 'boolean' ? undefined : `${path} is ${shown(value)}, expected true or false`,
  texts: listOf(text, 'strings'),
  text_rows: listOf(listOf(text, 'strings'), 'lists of strings'),
  messages: listOf(message, 'messages'),
  conversations: listOf(listOf(message, 'messages'), 'conversations'),
  multimodal_conversations: listOf(listOf(multimodalMessage, 'messages'), 'conversations'),
  segments: listOf(segment, 'segments'),
  turns: listOf(turn, 'turns'),
  counts: recordOf(int, 'integers'),
  amounts: recordOf(float, 'numbers'),
  choices: recordOf(
    (value, path) => (typeof value === 'string' ? undefined : float(value, path)),
    'numbers or strings',
  ),
};

function listOf(check: Check, what: string): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} is ${shown(value)}, expected a list of ${what}`;
    return firstComplaint(value.map((item, i) => check(item, `${path}[${i}]`)));
  };
}

function recordOf(check: Check, what: string): Check {
  return (value, path) => {
    if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected an object of ${what} by name`;
    return firstComplaint(Object.entries(value).map(([key, item]) => check(item, `${path}.${key}`)));
  };
}

const ROLES = ['system', 'user', 'assistant', 'tool'];

function message(value: unknown, path: string): string | undefined {
  if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected {role, content}`;
  return (
    among(ROLES, value.role, `${path}.role`) ??
    text(value.content, `${path}.content`) ??
    firstComplaint(TRAIN_FLAGS.map((name) => trainFlag(value[name], `${path}.${name}`)))
  );
}

function multimodalMessage(value: unknown, path: string): string | undefined {
  if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected {role, content}`;
  return among(ROLES, value.role, `${path}.role`) ?? listOf(part, 'parts')(value.content, `${path}.content`);
}

function part(value: unknown, path: string): string | undefined {
  if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected {type: text or image, ...}`;
  if (value.type === 'text') return text(value.text, `${path}.text`);
  return firstComplaint([
    among(['text', 'image'], value.type, `${path}.type`),
    int(value.width, `${path}.width`),
    int(value.height, `${path}.height`),
    ints(value.color, `${path}.color`),
  ]);
}

const trainFlag = (value: unknown, path: string): string | undefined =>
  value === undefined || value === null || typeof value === 'boolean' || value === 0 || value === 1
    ? undefined
    : `${path} is ${shown(value)}, expected true, false, 0, 1 or null`;

function segment(value: unknown, path: string): string | undefined {
  if (!isJsonObject(value))
    return `${path} is ${shown(value)}, expected {prompt_ids, completion_ids, reward}`;
  return firstComplaint([
    ints(value.prompt_ids, `${path}.prompt_ids`),
    ints(value.completion_ids, `${path}.completion_ids`),
    float(value.reward, `${path}.reward`),
  ]);
}

const FINISH_REASONS = ['stop', 'length', 'none'];

function turn(value: unknown, path: string): string | undefined {
  if (!isJsonObject(value))
    return `${path} is ${shown(value)}, expected {role, ids, logprobs, finish_reason}`;
  return firstComplaint([
    among(ROLES, value.role, `${path}.role`),
    ints(value.ids, `${path}.ids`),
    floats(value.logprobs, `${path}.logprobs`),
    among(FINISH_REASONS, value.finish_reason, `${path}.finish_reason`),
  ]);
}

function among(words: readonly string[], value: unknown, path: string): string | undefined {
  return words.some((word) => word === value)
    ? undefined
    : `${path} is ${shown(value)}, expected ${words.join(', ')}`;
}

function firstComplaint(complaints: readonly (string | undefined)[]): string | undefined {
  return complaints.find((complaint) => complaint !== undefined);
}

/** What a mask and a track hold where the trainer's layout has no position: see layout.ts. */
export function fillOf(kind: Kind, name: string): number {
  // A token outside the trainer's array is outside its loss: its weight is zero, not unknown.
  if (kind === 'int_track' || name === 'loss_weights') return 0;
  return Number.NaN;
}
