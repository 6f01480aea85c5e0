// How the cases of a generator hang together, learned from a sample of them: which lists have one entry per row, which
// lists inside a row belong together, how short each may be. A shrinker that knows this leaves out rows and tokens and
// still has a case that the generator could have made. What the sample does not show is taken as not allowed.
import { isJsonObject } from '../../outside/decoded.ts';

/** Lists that always have the same length, one entry per row, and the least that was seen. */
export interface RowFields {
  readonly fields: readonly string[];
  readonly least: number;
  /** Fields with a number that never passes the length: an index into the rows. */
  readonly below: readonly Bound[];
}

/** Lists of a row that always have the same length. */
export interface TokenFields {
  readonly paths: readonly Path[];
  readonly least: number;
  /** Keys of the row with a number that never passes the length: how many of its tokens are prompt. */
  readonly below: readonly Bound[];
}

export interface Bound {
  readonly path: Path;
  /** The least by which the length was more. */
  readonly margin: number;
}

/** A field of the case, and a key of its entries where those are objects. */
export type Path = readonly [field: string, key?: string];

export interface Structure {
  readonly rows: readonly RowFields[];
  readonly tokens: readonly TokenFields[];
}

type Case = Readonly<Record<string, unknown>>;

/** What all of these cases have in common. Nothing where they are no objects. */
export function learnStructure(cases: readonly unknown[]): Structure {
  const samples = cases.filter(isJsonObject);
  const [first] = samples;
  if (first === undefined || samples.length < cases.length) return { rows: [], tokens: [] };
  const fields = Object.keys(first).filter((field) =>
    samples.every((sample) => Array.isArray(sample[field])),
  );
  // A list that is sometimes there and sometimes not may belong to any other.
  const sometimes = samples.some((sample) =>
    Object.keys(sample).some((field) => Array.isArray(sample[field]) && !fields.includes(field)),
  );
  if (sometimes) return { rows: [], tokens: [] };
  const rows = [...groupBy(fields, (field) => samples.map((sample) => listAt(sample, field).length).join())]
    .map((group) => rowFields(group, samples))
    .filter((group) => group !== undefined);
  return { rows, tokens: rows.flatMap((group) => tokenFields(group, samples)) };
}

export function listAt(given: Case, field: string): readonly unknown[] {
  const list = given[field];
  return Array.isArray(list) ? list : [];
}

/** Rows are lists or objects. Messages follow each other, and none can be left out. */
function rowFields(fields: readonly string[], samples: readonly Case[]): RowFields | undefined {
  const entries = fields.flatMap((field) => samples.flatMap((sample) => listAt(sample, field)));
  // A number beside each row may be its group or its place: what it says of the others is not known.
  if (!entries.every((entry) => Array.isArray(entry) || isJsonObject(entry)) || entries.some(isMessage))
    return undefined;
  if (fields.some((field) => samples.every((sample) => isPartition(listAt(sample, field))))) return undefined;
  const lengths = samples.map((sample) => listAt(sample, fields[0] ?? '').length);
  if (!isRange(lengths)) return undefined;
  const numbers = Object.keys(samples[0] ?? {}).map((field): Path => [field]);
  const below = numbers.flatMap((path) =>
    boundOf(
      path,
      samples.map((sample, at) => [sample[path[0]], lengths[at] ?? 0]),
    ),
  );
  return { fields, least: Math.min(...lengths), below };
}

function tokenFields({ fields }: RowFields, samples: readonly Case[]): TokenFields[] {
  const entries = (path: Path): unknown[][] =>
    samples.map((sample) => listAt(sample, path[0]).map((row) => valueAt(row, path)));
  const paths = fields.flatMap((field): Path[] => {
    const rows = samples.flatMap((sample) => listAt(sample, field));
    if (rows.length > 0 && rows.every(Array.isArray)) return [[field]];
    return rows.every(isJsonObject) ? Object.keys(rows[0] ?? {}).map((key): Path => [field, key]) : [];
  });
  const lists = paths.filter((path) => entries(path).flat().every(isTokens));
  const lengths = (path: Path): number[][] =>
    entries(path).map((rows) => rows.map((row) => (row as readonly unknown[]).length));
  return [...groupBy(lists, (path) => JSON.stringify(lengths(path)))].flatMap((group) => {
    const [path] = group;
    if (path === undefined) return [];
    const batches = lengths(path);
    // Rows that are always of one length hang together in a way that leaving out tokens of one would break.
    const uneven = batches.some((rows) => new Set(rows).size > 1);
    if (!uneven || !isRange(batches.flat())) return [];
    const flat = batches.flat();
    const below = paths
      .filter(([field]) => field === path[0])
      .flatMap((other) =>
        boundOf(
          other,
          entries(other)
            .flat()
            .map((value, at) => [value, flat[at] ?? 0]),
        ),
      );
    return [{ paths: group, least: Math.min(...batches.flat()), below }];
  });
}

/** Lengths of which most leave none out, the least upwards: those of groups of a fixed size would. The others are long ones. */
function isRange(lengths: readonly number[]): boolean {
  const seen = new Set(lengths);
  const least = Math.min(...lengths);
  let end = least;
  while (seen.has(end + 1)) end++;
  return end > least && 2 * lengths.filter((length) => length <= end).length > lengths.length;
}

/** Lists of indices, each row in one of them: which row goes to which micro-batch. */
function isPartition(list: readonly unknown[]): boolean {
  const indices = list.flat();
  return new Set(indices).size === indices.length && indices.every((_, index) => indices.includes(index));
}

/** Whole numbers that are never more than the length beside them; [] where one is. */
function boundOf(path: Path, pairs: readonly (readonly [value: unknown, length: number])[]): Bound[] {
  if (!pairs.every(([value]) => Number.isInteger(value))) return [];
  const margin = pairs.reduce((least, [value, length]) => Math.min(least, length - Number(value)), Infinity);
  return margin >= 0 ? [{ path, margin }] : [];
}

export function valueAt(row: unknown, [, key]: Path): unknown {
  return key === undefined ? row : isJsonObject(row) ? row[key] : undefined;
}

/** Numbers, or objects that are no messages: what a token is. Lists of lists have a structure of their own. */
function isTokens(list: unknown): boolean {
  return (
    Array.isArray(list) &&
    list.every((entry) => typeof entry === 'number' || (isJsonObject(entry) && !isMessage(entry)))
  );
}

function isMessage(entry: unknown): boolean {
  return isJsonObject(entry) && 'role' in entry;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Iterable<T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups.values();
}
