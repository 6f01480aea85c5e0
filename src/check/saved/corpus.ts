// Saved failures: one JSON file a case beside its request lines, written atomically, run first next time,
// removed when they hold again. Nothing here judges a case.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '../events.ts';

export interface SavedCase {
  readonly id: string;
  readonly property: string;
  readonly given: unknown;
  readonly sentence: string;
  readonly trainer: string;
  readonly command: string;
  /** Which of several trainers of a configuration it was. */
  readonly name?: string;
  readonly seed: number;
  readonly path?: string;
  /** Request lines, hello first. */
  readonly lines: readonly string[];
  readonly version: string;
}

export interface Corpus {
  readonly folder: string;
  /** All readable cases, or those of one property. */
  saved(property?: string): readonly SavedCase[];
  /** Files that are there but are no saved case; kept, and named to the user. */
  unreadable(): readonly string[];
  save(saved: SavedCase): void;
  remove(id: string): void;
}

/** Short enough to type; 24 bits are plenty for the few failures that one folder holds. */
const ID_LENGTH = 6;

/** The same case of the same property has the same id. */
export function caseId(property: string, given: unknown): string {
  return createHash('sha256')
    .update(`${property}\n${JSON.stringify(given)}`)
    .digest('hex')
    .slice(0, ID_LENGTH);
}

/** A failure as it is saved. */
export function savedCase(
  property: string,
  failure: Failure,
  { trainer, command, name, version }: Pick<SavedCase, 'trainer' | 'command' | 'name' | 'version'>,
): SavedCase {
  return {
    id: failure.caseId,
    property,
    given: failure.given,
    sentence: failure.finding?.sentence ?? failure.trainerFailure?.message ?? '',
    trainer,
    command,
    ...(name === undefined ? {} : { name }),
    seed: failure.seed,
    ...(failure.path === undefined ? {} : { path: failure.path }),
    lines: failure.lines,
    version,
  };
}

/** Opens (and creates on first save) a folder of saved cases. */
export function openCorpus(folder: string): Corpus {
  const file = (id: string, ending: string): string => join(folder, `${id}.${ending}`);
  const all = (): { cases: SavedCase[]; unreadable: string[] } => {
    const cases: SavedCase[] = [];
    const unreadable: string[] = [];
    for (const name of names(folder)) {
      const saved = readSavedCase(join(folder, name));
      if (saved === undefined) unreadable.push(name);
      else cases.push(saved);
    }
    return { cases, unreadable };
  };
  return {
    folder,
    saved: (property) => all().cases.filter((saved) => property === undefined || saved.property === property),
    unreadable: () => all().unreadable,
    save(saved) {
      mkdirSync(folder, { recursive: true });
      writeAtomically(file(saved.id, 'ndjson'), `${saved.lines.join('\n')}\n`);
      writeAtomically(file(saved.id, 'json'), `${JSON.stringify(saved, null, 2)}\n`);
    },
    remove(id) {
      rmSync(file(id, 'json'), { force: true });
      rmSync(file(id, 'ndjson'), { force: true });
    },
  };
}

/** One saved case, or undefined where the file is something else. */
export function readSavedCase(path: string): SavedCase | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isSavedCase(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSavedCase(value: unknown): value is SavedCase {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  return (
    typeof record.id === 'string' &&
    typeof record.property === 'string' &&
    'given' in record &&
    Array.isArray(record.lines)
  );
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch {
    return [];
  }
}

/** A crash while writing leaves the old file whole. */
function writeAtomically(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
}
