// One small change of a trainer's own Python, as the trainer's process lists it (src/python/lossproof_mutate), and the files
// that are changed.
import { type Decoded, isJsonObject } from '../outside/decoded.ts';

export interface Change {
  /** The same for the same change of the same text. */
  readonly id: string;
  /** Of the files of the run, from 0. */
  readonly file: number;
  readonly line: number;
  /** What people get wrong, in a few words: `shifted by one`. */
  readonly kind: string;
  /** Qualified; empty at the top of a file. */
  readonly function: string;
  /** The source line, and what it is then. */
  readonly before: string;
  readonly after: string;
  /** First and last line of the statement: it is reached where one of them runs. */
  readonly lines: readonly [first: number, last: number];
  /** Rows of the bug catalogue that a change of this kind is one of. */
  readonly bugs: readonly string[];
}

export interface ChangedFile {
  /** As it is called: below the adapter's folder, or below the folder that it is installed in. */
  readonly shown: string;
  readonly path: string;
  /** SHA-256 of its bytes. */
  readonly print: string;
  /** Lines that run while it is imported. */
  readonly imported: readonly number[];
}

/** What the trainer's process says of itself. */
export interface ChangePlan {
  /** The Python that runs it. */
  readonly python: string;
  readonly forks: boolean;
  readonly files: readonly (ChangedFile & { readonly isScript: boolean })[];
  readonly changes: readonly Change[];
  readonly problems: readonly string[];
}

/** Fields that are not known are let pass. */
export function decodePlan(value: unknown): Decoded<ChangePlan> {
  if (!isJsonObject(value)) return { complaint: 'is no object' };
  const { python, forks, files, changes, problems, script } = value;
  if (typeof python !== 'string' || typeof forks !== 'boolean') return { complaint: 'names no Python' };
  if (!isListOf(problems, isText)) return { complaint: 'has no list of problems' };
  if (!isListOf(files, isFile)) return { complaint: 'has no list of files' };
  if (!isListOf(changes, isChange)) return { complaint: 'has no list of changes' };
  const named = files.map((file) => ({ ...fileOf(file), isScript: file.path === script }));
  return { ok: { python, forks, files: named, changes: changes.map(changeOf), problems } };
}

export function isChange(value: unknown): value is Change {
  if (!isJsonObject(value)) return false;
  const { file, line, lines, bugs } = value;
  const texts = [value.id, value.kind, value.function, value.before, value.after];
  const numbers = [file, line, ...(Array.isArray(lines) ? lines : [])];
  return texts.every(isText) && numbers.every(isCount) && numbers.length === 4 && isListOf(bugs, isText);
}

export function isFile(value: unknown): value is ChangedFile {
  if (!isJsonObject(value)) return false;
  return [value.shown, value.path, value.print].every(isText) && isListOf(value.imported, isCount);
}

/** Only what is known of it. */
export function changeOf({
  id,
  file,
  line,
  kind,
  function: name,
  before,
  after,
  lines,
  bugs,
}: Change): Change {
  return { id, file, line, kind, function: name, before, after, lines, bugs };
}

export function fileOf({ shown, path, print, imported }: ChangedFile): ChangedFile {
  return { shown, path, print, imported };
}
export const isText = (value: unknown): value is string => typeof value === 'string';
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value);
export const isListOf = <T>(value: unknown, is: (each: unknown) => each is T): value is T[] =>
  Array.isArray(value) && value.every(is);
