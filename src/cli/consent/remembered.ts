// What the user has consented to, per folder, in the user's own state folder: nothing that a repository brings along can write it.
// One small file for each consent, so that processes cannot overwrite each other's and no file must be parsed.
import { createHash } from 'node:crypto';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { makeFolders } from '../../outside/folder.ts';
import type { Context } from '../context.ts';

type Place = Pick<Context, 'cwd' | 'env'>;

export function isRemembered(place: Place, words: string): boolean {
  const file = fileOf(place, words);
  return file !== undefined && existsSync(file);
}

/** @returns whether it could be written: there may be no home, or one that is read-only. */
export function remember(place: Place, words: string): boolean {
  const file = fileOf(place, words);
  if (file === undefined) return false;
  try {
    makeFolders(join(file, '..'), 0o700);
    // The text is for people who look; that the file is there is what counts.
    writeFileSync(file, `${place.cwd}\n${words}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function fileOf({ cwd, env }: Place, words: string): string | undefined {
  const state = stateFolder(env);
  if (state === undefined) return undefined;
  const name = createHash('sha256')
    .update(JSON.stringify([realpathSync(cwd), words]))
    .digest('hex');
  return join(state, 'lossproof', 'trusted', name);
}

/** Only absolute: a relative one would lie in the folder whose code is in question. */
function stateFolder({ XDG_STATE_HOME, LOCALAPPDATA, HOME }: Context['env']): string | undefined {
  const given = [XDG_STATE_HOME, LOCALAPPDATA, HOME && join(HOME, '.local', 'state')];
  return given.find((folder) => folder !== undefined && folder !== '' && isAbsolute(folder));
}
