// One writer a file: who writes the events of a run says so in a file beside them, so that a second run into the same file
// is refused before it begins, and not noticed afterwards. What a killed run left behind is taken over.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Lock {
  release(): void;
}

/** Why another run has it, in words that follow the file's name. What cannot hold a lock, a pipe or a disk that fails, has none. */
export function lock(file: string): Lock | { readonly held: string } {
  const beside = `${file}.lock`;
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) return NONE;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(beside, `${JSON.stringify({ pid: process.pid, host: hostname() })}\n`, { flag: 'wx' });
      return { release: () => rmSync(beside, { force: true }) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return NONE;
    }
    const holder = holderOf(beside);
    if (holder !== undefined) return { held: holder };
    rmSync(beside, { force: true });
  }
  return { held: 'is being written by another run' };
}

const NONE: Lock = { release: () => {} };

/** Who holds it, if anybody still does. */
function holderOf(beside: string): string | undefined {
  let holder: { readonly pid?: unknown; readonly host?: unknown };
  try {
    holder = JSON.parse(readFileSync(beside, 'utf8'));
  } catch {
    return undefined; // gone meanwhile, or torn by a kill
  }
  const { pid, host } = holder ?? {};
  if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
  if (host !== hostname())
    return `is being written by another run, process ${pid} on ${host}; if that is gone, delete ${beside}`;
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
