// Train flags: what a message itself says about whether it is trained. OpenAI and mistral-finetune read `weight`, axolotl
// the field that message_field_training names and offsets within a content (train_detail), ms-swift `loss`.

type Fields = Readonly<Record<string, unknown>>;

/** Every field that some trainer or data set uses as a train flag, with whoever reads it. */
const READERS = {
  train: 'axolotl, where message_field_training names it',
  training: 'axolotl, where message_field_training names it',
  trainable: 'no trainer by default',
  train_on_turn: 'axolotl, where message_field_training names it',
  learn: 'no trainer by default',
  loss: 'ms-swift',
  loss_scale: 'ms-swift',
  loss_weight: 'no trainer by default',
  loss_mask: 'no trainer by default',
  weight: 'OpenAI, mistral-finetune and axolotl',
} as const satisfies Readonly<Record<string, string>>;

type Name = keyof typeof READERS;
const NAMES = Object.keys(READERS) as readonly Name[];
const DETAILS = ['train_detail', 'training_detail'] as const;

/** The fields of a turn that are train flags, for shapes whose turns are written anew. */
export function trainFields(turn: Fields): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of [...NAMES, ...DETAILS]) if (turn[name] !== undefined) kept[name] = turn[name];
  return kept;
}

/** Characters [from, to) of a content. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** What a message says about itself. */
export interface Told {
  /** Whether it is trained; absent: it does not say, and the convention decides. */
  readonly trained?: boolean;
  /** Only these characters of its content are trained. */
  readonly only?: readonly Stretch[];
  /** The fields that say so. */
  readonly names: readonly string[];
  /** A text that spells no, which is true in Python. */
  readonly text?: string;
  /** A value that trainers read differently. */
  readonly odd?: string;
}

export const NOTHING_TOLD: ReadonlyMap<number, Told> = new Map();

/** What each message says, by its place; of those that say something. */
export function toldIn(messages: readonly Fields[]): ReadonlyMap<number, Told> {
  const told = new Map<number, Told>();
  for (const [at, message] of messages.entries()) {
    const own = toldBy(message);
    if (own !== NOTHING) told.set(at, own);
  }
  return told.size === 0 ? NOTHING_TOLD : told;
}

/** `"train" (axolotl, where message_field_training names it)`. */
export function readersOf(names: readonly string[]): string {
  const known = (name: string): string =>
    READERS[name as Name] ?? 'axolotl, where message_field_training_detail names it';
  return names.map((name) => `"${name}" (${known(name)})`).join(', ');
}

// --- helpers ---

const NOTHING: Told = { names: [] };

function toldBy(message: Fields): Told {
  let trained: boolean | undefined;
  const names: string[] = [];
  let text: string | undefined;
  let odd: string | undefined;
  for (const name of NAMES) {
    if (message[name] === undefined) continue;
    const read = readValue(message[name]);
    if (read === undefined) continue;
    const said = `"${name}": ${JSON.stringify(message[name])}`;
    names.push(name);
    if (read.kind === 'no as text') text ??= said;
    // Of another role, null and the default are one.
    else if (read.kind === 'odd' && (read.trained !== undefined || message.role === 'assistant'))
      odd ??= said;
    if (read.trained === undefined) continue;
    if (trained !== undefined && trained !== read.trained) odd ??= `${said} beside "${names[0]}"`;
    trained = trained !== false && read.trained;
  }
  const detail = DETAILS.find((name) => Array.isArray(message[name]));
  const only = detail === undefined || trained !== undefined ? undefined : stretchesOf(message, detail);
  if (detail !== undefined && trained === undefined) {
    names.push(detail);
    if (only === undefined) odd ??= `"${detail}"`;
  }
  if (names.length === 0) return NOTHING;
  return {
    names,
    ...(trained === undefined ? {} : { trained }),
    ...(only === undefined ? {} : { only, trained: true }),
    ...(text === undefined ? {} : { text }),
    ...(odd === undefined ? {} : { odd }),
  };
}

/** Python takes each of these texts for true, as every text that is not empty. */
const NO = /^(?:false|no|off|0|0\.0)$/i;
const YES = /^(?:true|yes|on|1|1\.0|none|null)$/i;

interface Read {
  readonly kind: 'plain' | 'odd' | 'no as text';
  readonly trained?: boolean;
}

/** undefined: the field means something else. */
function readValue(value: unknown): Read | undefined {
  if (typeof value === 'boolean') return { kind: 'plain', trained: value };
  if (typeof value === 'number')
    return { kind: value === 0 || value === 1 ? 'plain' : 'odd', trained: value !== 0 };
  if (value === null || value === '') return { kind: 'odd' };
  if (typeof value !== 'string') return undefined;
  if (NO.test(value.trim())) return { kind: 'no as text', trained: true };
  return YES.test(value.trim()) ? { kind: 'odd', trained: true } : undefined;
}

/** In train_detail, end_offset is the last character. undefined where it is written in another way. */
function stretchesOf(message: Fields, name: string): readonly Stretch[] | undefined {
  const stretches: Stretch[] = [];
  for (const each of message[name] as readonly unknown[]) {
    const { begin_offset: from, end_offset: last, train } = (each ?? {}) as Fields;
    if (!Number.isInteger(from) || !Number.isInteger(last) || typeof train !== 'boolean') return undefined;
    const stretch = { from: from as number, to: (last as number) + 1 };
    if (stretch.from < 0 || stretch.to < stretch.from) return undefined;
    if (train) stretches.push(stretch);
  }
  return stretches.sort((left, right) => left.from - right.from);
}
