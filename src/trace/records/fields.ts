// What each kind of trace record must hold, as a table, and a line's object checked against it.
import { type Decoded, isJsonObject, type JsonObject, shown } from '../../protocol/result.ts';
import { decodeMatrix, decodeRow } from './arrays.ts';
import { type ReadRecord, SHAPES } from './shapes.ts';

export function isKind(kind: unknown): kind is ReadRecord['kind'] {
  return typeof kind === 'string' && Object.hasOwn(FIELDS, kind);
}

/** The record of an object of a known kind; a complaint names the field. Fields that this version does not know are let pass. */
export function recordOf(kind: ReadRecord['kind'], value: JsonObject): Decoded<ReadRecord> {
  const record: Record<string, unknown> = { kind };
  for (const [name, rule] of Object.entries(FIELDS[kind])) {
    const decoded = decodeField(rule, value[name]);
    if ('complaint' in decoded) return { complaint: `field "${name}" ${decoded.complaint}` };
    if (decoded.ok !== undefined) record[name] = decoded.ok;
  }
  const complaint = SHAPES[kind]?.(record as never);
  return complaint === undefined ? { ok: record as unknown as ReadRecord } : { complaint };
}

// --- helpers ---

type Rule =
  | 'text'
  | 'flag'
  | 'number'
  | 'index'
  | 'ids'
  | 'floats'
  | 'numbers'
  | 'texts'
  | 'object'
  | 'names'
  | 'objects'
  | 'int matrix'
  | 'float matrix'
  | readonly string[];
/** `null` may stand there, too; or the field may be absent. */
type OrElse = readonly [rule: Rule, orElse: null | undefined];

type FieldsOf<K extends ReadRecord['kind']> = {
  readonly [F in Exclude<keyof Extract<ReadRecord, { kind: K }>, 'kind'>]: Rule | OrElse;
};

const FIELDS: { readonly [K in ReadRecord['kind']]: FieldsOf<K> } = {
  process: {
    trace: 'index',
    pid: 'index',
    rank: 'index',
    world: 'index',
    argv: 'texts',
    python: 'text',
    started: 'text',
    name: ['text', undefined],
    node: ['text', undefined],
  },
  versions: { versions: 'names', device: 'text' },
  model: {
    model: 'index',
    class: 'text',
    head: ['text', null],
    vocab_size: 'index',
    hidden_size: ['index', null],
    parameters: 'index',
    dtype: 'text',
    positions: ['rotary', 'absolute', 'relative', 'unknown'],
    name: 'text',
    placeholders: ['ids', undefined],
  },
  forward: {
    forward: 'index',
    model: 'index',
    step: 'index',
    grad: 'flag',
    training: 'flag',
    input_ids: 'int matrix',
    attention_mask: ['int matrix', null],
    attention: ['mask', 'none', 'other'],
    position_ids: ['int matrix', null],
    labels: ['int matrix', null],
    logprobs: ['float matrix', null],
    averaged_over: 'index',
    adapters_off: 'flag',
    batch: ['numbers', undefined],
    across: ['flag', undefined],
    dropout: ['number', undefined],
    dropout_off: ['number', undefined],
    time: ['number', undefined],
  },
  trained: {
    forward: 'index',
    route: ['logits', 'hidden', 'scores'],
    dtype: 'text',
    rows: 'ids',
    columns: 'ids',
    targets: 'ids',
    weights: 'floats',
    residuals: 'floats',
    temperatures: 'floats',
    logprobs: 'floats',
    not_finite: 'index',
    terms: ['objects', undefined],
    unread: ['object', undefined],
    pass: ['index', undefined],
  },
  generate: {
    generate: 'index',
    model: ['index', undefined],
    step: 'index',
    source: ['text', undefined],
    input_ids: 'int matrix',
    attention_mask: ['int matrix', null],
    sequences: 'int matrix',
    prompt_width: 'index',
    copies: 'index',
    eos_token_ids: 'ids',
    pad_token_id: ['number', null],
    do_sample: 'flag',
    temperature: ['number', null],
    max_new_tokens: ['number', null],
    settings: 'object',
    lengths: ['ids', undefined],
    unsure_before: ['ids', undefined],
    unsure_behind: ['ids', undefined],
    sampling_logprobs: ['float matrix', undefined],
    open: ['flag', undefined],
    time: ['number', undefined],
  },
  step: {
    step: 'index',
    optimizer: 'text',
    models: 'ids',
    gradient_norm: ['number', null],
    changed: 'flag',
    learning_rates: 'numbers',
    skipped: ['flag', undefined],
    dropped: ['ids', undefined],
    zeroed: ['text', undefined],
    copies: ['flag', undefined],
    closure: ['flag', undefined],
    place: ['text', undefined],
    backwards: ['index', undefined],
    backward_places: ['texts', undefined],
    passes: ['ids', undefined],
    factors: ['numbers', undefined],
    time: ['number', undefined],
  },
  replica: {
    model: 'index',
    names: 'texts',
    shapes: 'texts',
    apart: 'numbers',
    wrapper: ['text', null],
    gone: 'flag',
    group: 'numbers',
  },
  checksums: {
    model: 'index',
    step: 'index',
    of: ['parameters', 'gradients'],
    sums: 'ids',
    sizes: ['floats', undefined],
    local: ['floats', undefined],
    reduced: ['floats', undefined],
    calls: ['index', undefined],
    through: ['index', undefined],
    synced: ['index', undefined],
    joined: ['flag', undefined],
    periodic: ['flag', undefined],
  },
  tensors: { model: 'index', names: 'texts', sizes: 'ids', dtypes: 'texts' },
  update: {
    model: 'index',
    step: 'index',
    optimizer: 'index',
    place: ['text', undefined],
    tensors: 'ids',
    norms: 'floats',
    peaks: 'floats',
    beside: 'floats',
    moved: 'ids',
    rates: 'floats',
    decays: 'floats',
    held: 'ids',
    trainable: 'ids',
  },
  event: {
    what: 'text',
    step: 'index',
    model: ['number', null],
    place: ['text', null],
    names: 'texts',
    values: 'object',
  },
  prints: {
    model: 'index',
    step: 'index',
    of: ['before', 'gradients', 'signs', 'after'],
    names: 'texts',
    prints: 'float matrix',
  },
  outputs: { forward: 'index', modules: 'texts', prints: 'float matrix' },
  backward: { forward: 'index', modules: 'texts', sides: 'texts', prints: 'float matrix' },
  tokenizer: {
    folder: 'text',
    class: 'text',
    vocab_size: 'index',
    pad_token_id: ['number', null],
    eos_token_id: ['number', null],
    bos_token_id: ['number', null],
  },
  settings: {
    class: 'text',
    trainer: 'text',
    bases: ['texts', undefined],
    library: ['text', undefined],
    values: 'object',
  },
  blind: { what: 'text', sentence: 'text' },
  trouble: { where: 'text', traceback: 'text' },
  end: {
    reason: ['steps', 'finished', 'exception'],
    exception: ['text', null],
    torch: 'flag',
    modules_called: 'flag',
    tracer_seconds: 'number',
    seconds: 'number',
  },
};

function decodeField(rule: Rule | OrElse, value: unknown): Decoded<unknown> {
  if (!isOrElse(rule)) return decodeRule(rule, value);
  return value === null || value === undefined ? { ok: rule[1] } : decodeRule(rule[0], value);
}

function isOrElse(rule: Rule | OrElse): rule is OrElse {
  return typeof rule !== 'string' && typeof rule[1] !== 'string';
}

function decodeRule(rule: Rule, value: unknown): Decoded<unknown> {
  switch (rule) {
    case 'ids':
      return decodeRow(value, 'integers');
    case 'floats':
      return decodeRow(value, 'floats');
    case 'int matrix':
      return decodeMatrix(value, 'integers');
    case 'float matrix':
      return decodeMatrix(value, 'floats');
    case 'names':
      // Nothing is known of what was imported and tells no version.
      return isJsonObject(value) &&
        Object.values(value).every((each) => each === null || typeof each === 'string')
        ? { ok: Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null)) }
        : { complaint: `is ${shown(value)}, expected names with texts` };
    case 'numbers':
      // What JSON has no number for was written as null.
      return Array.isArray(value) && value.every((each) => each === null || typeof each === 'number')
        ? { ok: value.map((each) => each ?? Number.NaN) }
        : { complaint: `is ${shown(value)}, expected numbers` };
    default: {
      const [good, expected] = typeof rule === 'string' ? SIMPLE[rule] : oneOf(rule);
      if (good(value)) return { ok: value };
      return { complaint: value === undefined ? 'is missing' : `is ${shown(value)}, expected ${expected}` };
    }
  }
}

type Simple = readonly [good: (value: unknown) => boolean, expected: string];

const SIMPLE: Readonly<
  Record<
    Exclude<Rule, readonly string[] | `${string} matrix` | 'ids' | 'floats' | 'numbers' | 'names'>,
    Simple
  >
> = {
  text: [(value) => typeof value === 'string', 'text'],
  texts: [(value) => Array.isArray(value) && value.every((each) => typeof each === 'string'), 'texts'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  number: [(value) => typeof value === 'number', 'a number'],
  index: [(value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number from 0'],
  object: [isJsonObject, 'an object'],
  objects: [(value) => Array.isArray(value) && value.every(isJsonObject), 'a list of objects'],
};

function oneOf(words: readonly string[]): Simple {
  return [(value) => words.some((word) => word === value), words.join(', ')];
}
