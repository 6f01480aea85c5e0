// Saved failures: a folder with one JSON file a case beside its request lines, written atomically, run first next time,
// removed when they hold again. Nothing here judges a case, and nothing here throws: what cannot be read, written or
// removed is said.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Decoded } from '../../outside/decoded.ts';
import { makeFolders } from '../../outside/folder.ts';
import { replaceWhole, sweepTemporaries } from '../../outside/temporary.ts';
import { isCaseId, readSavedCase, type SavedCase } from './saved-case.ts';

export interface Corpus {
  readonly folder: string;
  /** All readable cases, or those of one property. */
  saved(property?: string): readonly SavedCase[];
  /** Files that are there but are no saved case, each with what is wrong with it; kept, and named to the user. */
  unreadable(): readonly string[];
  /** Why it could not be saved, as a sentence; undefined where it was. */
  save(saved: SavedCase): string | undefined;
  remove(id: string): void;
}

/** Opens (and creates on first save) a folder of saved cases. */
export function openCorpus(folder: string): Corpus {
  const file = (id: string, ending: string): string => join(folder, `${id}.${ending}`);
  const seen = new Map<string, { readonly version: string; readonly read: Decoded<SavedCase> }>();
  /** Once, unless the file has changed: each property asks for its own. */
  const readOnce = (name: string): Decoded<SavedCase> => {
    const version = versionOf(join(folder, name));
    const before = seen.get(name);
    if (before !== undefined && before.version === version) return before.read;
    const read = ofThisName(name, readSavedCase(join(folder, name)));
    seen.set(name, { version, read });
    return read;
  };
  return {
    folder,
    saved: (property) =>
      names(folder).flatMap((name) => {
        const read = readOnce(name);
        return 'ok' in read && (property === undefined || read.ok.property === property) ? [read.ok] : [];
      }),
    unreadable: () =>
      names(folder).flatMap((name) => {
        const read = readOnce(name);
        return 'ok' in read ? [] : [`${name} ${read.complaint}`];
      }),
    save(saved) {
      if (!isCaseId(saved.id)) return `The failing case ${saved.id} was not saved: that is no id of a case.`;
      try {
        makeFolders(folder);
        sweepTemporaries(folder);
        replaceWhole(file(saved.id, 'ndjson'), `${saved.lines.join('\n')}\n`);
        replaceWhole(file(saved.id, 'json'), `${JSON.stringify(saved, null, 2)}\n`);
        return undefined;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return `Failing cases could not be saved in ${folder} (${why}), so that \`lossproof replay\` does not find them; the verdicts stand.`;
      }
    },
    remove(id) {
      if (!isCaseId(id)) return;
      for (const ending of ['json', 'ndjson']) {
        try {
          rmSync(file(id, ending), { force: true });
        } catch {
          // It stays, and the next run says again that it holds.
        }
      }
    },
  };
}

/** A file is removed under the id that it says it has: one of another name would be fixed in every run and never leave. */
function ofThisName(name: string, read: Decoded<SavedCase>): Decoded<SavedCase> {
  if ('complaint' in read || name === `${read.ok.id}.json`) return read;
  return { complaint: `says that it is case ${read.ok.id}; name it ${read.ok.id}.json, or delete it` };
}

function versionOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return '';
  }
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
