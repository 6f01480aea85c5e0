// One writer per file: who writes the events of a run says so in a file beside them, so that a second run into the same file
// is refused before it begins, and not noticed afterwards. What a killed run left behind is taken over.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { readJson } from '../../outside/file.ts';
import { harmless } from '../../visible.ts';
import { whyOf } from '../context.ts';

export interface Lock {
  release(): void;
}

/** Why another run has it, in words that follow the file's name. What cannot hold a lock, a pipe or a disk that fails, has none. */
export function lock(file: string): Lock | { readonly held: string } {
  const beside = `${file}.lock`;
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) return NONE;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const own = { pid: process.pid, host: hostname(), began: beganAt(process.pid) };
      writeFileSync(beside, `${JSON.stringify(own)}\n`, { flag: 'wx' });
      return { release: () => void removed(beside) };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // A full disk takes the name, and not what stands in it.
      if (code === 'ENOSPC' || code === 'EDQUOT') removed(beside);
      if (code !== 'EEXIST') return NONE;
    }
    const holder = holderOf(beside);
    if (holder !== undefined) return { held: holder };
    const why = removed(beside);
    if (why !== undefined) return { held: `cannot be locked: ${why}; delete ${beside}` };
  }
  return { held: 'is being written by another run' };
}

const NONE: Lock = { release: () => {} };

/** Why it is still there. A folder is nobody's lock, and may hold something. */
function removed(beside: string): string | undefined {
  try {
    rmSync(beside, { force: true });
    return undefined;
  } catch (error) {
    return isFolder(error) ? 'a folder stands where the lock should be' : whyOf(error);
  }
}

const isFolder = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_FS_EISDIR';

/** Who holds it, if anybody still does. */
function holderOf(beside: string): string | undefined {
  const read = readJson(beside);
  if ('complaint' in read) return undefined; // gone meanwhile, or torn by a kill
  const { pid, host, began } = (read.ok ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
  if (host !== hostname())
    return `is being written by another run, process ${pid} on ${harmless(host)}; if that is gone, delete ${beside}`;
  // In a container that is started anew, host and numbers are those of the one that was killed.
  if (began !== undefined && began !== beganAt(pid)) return undefined;
  if (pid === process.pid) return 'is written by this run already';
  return isAlive(pid) ? `is being written by another run, process ${pid}` : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** When a process began, in the kernel's own ticks; undefined where the system does not tell. */
function beganAt(pid: number): string | undefined {
  try {
    // Behind the name, which may hold spaces and brackets, the 20th field.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[STARTED];
  } catch {
    return undefined;
  }
}

const STARTED = 19;
