// A golden file as text and back: the head that says who answered, and the entries of one stage. Reading trusts nothing: a
// file is edited, merged and half resolved by hand. A complaint names the path of what is wrong.
import { parsePython } from '../outside/json.ts';
import { OPS, type Op } from '../protocol/message.ts';
import { isJsonObject, type JsonObject, shown } from '../protocol/result.ts';
import { type Entry, type Fields, HELLO, readAnswer, type Said } from './entry.ts';
import { prettyJson } from './json.ts';

/** Of the files themselves. */
export const FORMAT = 1;

/** Who gave the answers. None of it fails a run. */
export interface Head {
  readonly set: number;
  readonly trainer: string;
  readonly version?: string;
  readonly runtime?: string;
  /** The tokenizer's folder by its last name, and what it holds, by fingerprint. */
  readonly tokenizer?: Fields;
}

/** An entry beside its text: what is written is kept as it is where nothing changed. */
export interface WrittenEntry extends Entry {
  readonly written: Fields;
}

export interface GoldenFile {
  readonly stage: string;
  readonly head: Head;
  readonly entries: readonly WrittenEntry[];
}

export function fileText({ stage, head, entries }: GoldenFile): string {
  const { set, ...who } = head;
  return prettyJson({
    golden: FORMAT,
    stage,
    set,
    recorded_with: who,
    entries: entries
      .toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
      .map(({ id, op, args, written }) => (op === HELLO ? { id, ...written } : { id, op, args, ...written })),
  });
}

/** An entry as it is written from here on. */
export function entryOf(id: string, op: Entry['op'], args: Fields, said: Said, answer: Fields): WrittenEntry {
  const written = said.kind === 'answer' ? { answer } : { [said.kind]: said.why };
  return { id, op, args, said, written };
}

export function readFile(text: string): { readonly file: GoldenFile } | { readonly complaint: string } {
  // Some editors begin a file with a byte order mark.
  const parsed = parsePython(text.replace(/^\uFEFF/, ''));
  if ('complaint' in parsed) return { complaint: noJson(text, parsed.complaint) };
  const value = parsed.ok;
  if (!isJsonObject(value) || !('golden' in value))
    return { complaint: 'is no golden file: it has no "golden"; keep other files in another folder' };
  if (value.golden !== FORMAT)
    return {
      complaint: `has format ${shown(value.golden)}, this lossproof reads format ${FORMAT}: remove the folder and record it again, or use the release that wrote it`,
    };
  const head = headOf(value);
  if (typeof head === 'string') return { complaint: head };
  if (!Array.isArray(value.entries))
    return { complaint: `: entries is ${shown(value.entries)}, expected a list` };
  const entries: WrittenEntry[] = [];
  const seen = new Set<string>();
  for (const [at, item] of value.entries.entries()) {
    const entry = readEntry(item, `entries[${at}]`);
    if (typeof entry === 'string') return { complaint: `: ${entry}` };
    if (seen.has(entry.id))
      return { complaint: `: entries[${at}] is a second "${entry.id}"; leave one of them` };
    seen.add(entry.id);
    entries.push(entry);
  }
  return { file: { stage: String(value.stage), head, entries } };
}

// --- helpers ---

/** What to do, where what happened to the file can be told. */
function noJson(text: string, complaint: string): string {
  if (text.trim() === '') return `is empty; ${RESTORE}`;
  const conflict = text.split('\n').findIndex((line) => /^(<{7}|={7}|>{7})( |\r?$)/.test(line));
  if (conflict >= 0)
    return `has the markers of a merge conflict, in line ${conflict + 1}: take one side whole, then \`golden check\` says what is still another answer`;
  return `is no JSON: ${complaint}; ${RESTORE}`;
}

const RESTORE = 'restore it from version control, or remove it and `golden accept` its entries';

function headOf({ stage, set, recorded_with: who }: JsonObject): Head | string {
  if (typeof stage !== 'string' || stage === '') return `: stage is ${shown(stage)}, expected a name`;
  if (!Number.isSafeInteger(set)) return `: set is ${shown(set)}, expected the version of the golden set`;
  if (!isJsonObject(who)) return `: recorded_with is ${shown(who)}, expected an object`;
  for (const name of ['trainer', 'version', 'runtime']) {
    const value = who[name];
    if (typeof value !== 'string' && (name === 'trainer' || value !== undefined))
      return `: recorded_with.${name} is ${shown(value)}, expected a text`;
  }
  return { set: set as number, ...(who as unknown as Omit<Head, 'set'>) };
}

const SAID = ['answer', 'refused', 'skipped'] as const;

/** The entry, or what is wrong with it. */
function readEntry(item: unknown, path: string): WrittenEntry | string {
  if (!isJsonObject(item)) return `${path} is ${shown(item)}, expected an entry`;
  const { id, op = HELLO, args = {}, ...rest } = item;
  if (typeof id !== 'string' || !id.includes('/')) return `${path}.id is ${shown(id)}, expected "stage/name"`;
  const place = `${path} ("${id}")`;
  if (op !== HELLO && !isOp(op)) return `${place}.op is ${shown(op)}, which is no op of the protocol`;
  if (!isJsonObject(args)) return `${place}.args is ${shown(args)}, expected an object`;
  const [said, ...more] = Object.keys(rest);
  const kind = SAID.find((each) => each === said);
  if (kind === undefined || more.length > 0)
    return `${place} must have exactly one of ${SAID.join(', ')} beside id, op and args`;
  const value = rest[kind];
  if (kind !== 'answer') {
    if (typeof value !== 'string')
      return `${place}.${kind} is ${shown(value)}, expected the reason as a text`;
    return { id, op, args, said: { kind, why: value }, written: rest };
  }
  if (!isJsonObject(value)) return `${place}.answer is ${shown(value)}, expected an object`;
  if (op === HELLO) return { id, op, args, said: { kind, fields: value }, written: rest };
  const read = readAnswer(op, value);
  if ('complaint' in read) return `${place}.answer${read.complaint}`;
  return { id, op, args, said: { kind, fields: read.fields }, written: rest };
}

function isOp(name: unknown): name is Op {
  return typeof name === 'string' && Object.hasOwn(OPS, name);
}
