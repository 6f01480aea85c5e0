// The files of golden/papers, golden/torch and golden/transformers, read and checked for what every entry must have.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));
export const GOLDEN: string = join(ROOT, 'golden');
/** Folders whose answers a script of ours makes from an independent source. */
export const MADE_FOLDERS = ['papers', 'torch', 'transformers'] as const;
export type MadeFolder = (typeof MADE_FOLDERS)[number];

export type Fields = Readonly<Record<string, unknown>>;

export interface GoldenEntry {
  readonly id: string;
  readonly source: string;
  readonly how: string;
  /** The name of a function in a table of computations. */
  readonly compute: string;
  readonly input: Fields;
  readonly answer: Fields;
  /** Numbers that the source itself prints, as it prints them, in the shape of the answer. */
  readonly printed?: Fields;
  /** The precision in which the answer was computed, where it is not float64. */
  readonly dtype?: string;
}

export interface GoldenFile {
  readonly name: string;
  readonly made_by: string;
  readonly versions: Fields;
  readonly entries: readonly GoldenEntry[];
}

const FILE_KEYS = ['about', 'made_by', 'versions', 'entries'];
const KEYS = ['id', 'source', 'how', 'compute', 'input', 'answer'];
const MORE_KEYS = ['printed', 'dtype'];

/** Throws where a file or an entry lacks something, or has something that nobody would read. */
export function goldenFiles(folder: MadeFolder): GoldenFile[] {
  return readdirSync(join(GOLDEN, folder))
    .sort()
    .map((file) => {
      if (!file.endsWith('.json')) throw new Error(`golden/${folder}/${file} is not JSON: nothing reads it`);
      return goldenFile(JSON.parse(readFileSync(join(GOLDEN, folder, file), 'utf8')), `${folder}/${file}`);
    });
}

/** Numbers that stand as strings, because JSON has fewer digits or no word for them, become numbers, at any depth. */
export function decoded(value: unknown): unknown {
  if (typeof value === 'string') return NUMBER.test(value) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decoded(item)]));
}

// --- helpers ---

const NUMBER = /^(-?\d+(\.\d+)?([eE][-+]?\d+)?|-?Infinity|NaN)$/;

function goldenFile(value: unknown, name: string): GoldenFile {
  const { entries, ...rest } = only(value, FILE_KEYS, [], name);
  if (!Array.isArray(entries) || entries.length === 0) throw new Error(`golden/${name} has no entries`);
  const { made_by, versions } = rest;
  if (typeof made_by !== 'string' || !isFields(versions))
    throw new Error(`golden/${name} does not say what made it, with which versions`);
  const seen = new Set<unknown>();
  return {
    name,
    made_by,
    versions,
    entries: entries.map((each: unknown) => {
      const entry = goldenEntry(each, name);
      if (seen.has(entry.id)) throw new Error(`golden/${name} has ${entry.id} twice`);
      seen.add(entry.id);
      return entry;
    }),
  };
}

function goldenEntry(value: unknown, name: string): GoldenEntry {
  const fields = only(value, KEYS, MORE_KEYS, `${name}, an entry`);
  for (const key of ['id', 'source', 'how', 'compute'])
    if (typeof fields[key] !== 'string' || fields[key].trim() === '')
      throw new Error(`golden/${name}: the ${key} of an entry is empty: ${JSON.stringify(fields.id)}`);
  for (const key of ['input', 'answer'])
    if (!isFields(fields[key]) || Object.keys(fields[key]).length === 0)
      throw new Error(`golden/${name}: the ${key} of ${String(fields.id)} is empty`);
  return fields as unknown as GoldenEntry;
}

function only(value: unknown, keys: readonly string[], more: readonly string[], where: string): Fields {
  if (!isFields(value)) throw new Error(`golden/${where}: an object was expected`);
  const missing = keys.filter((key) => !(key in value));
  const unread = Object.keys(value).filter((key) => !keys.includes(key) && !more.includes(key));
  if (missing.length > 0) throw new Error(`golden/${where} lacks ${missing.join(', ')}`);
  if (unread.length > 0) throw new Error(`golden/${where} has what nothing reads: ${unread.join(', ')}`);
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
