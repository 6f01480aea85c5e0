// What Linux tells of every process, in /proc. Elsewhere there is no such folder, and nothing is known: no process is
// started to ask.
import { readdirSync, readFileSync } from 'node:fs';

/** Ids of all processes; none where there is no /proc. */
export function processes(): readonly number[] {
  try {
    return readdirSync(PROC)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** A file of a process; undefined: it has ended, or is not ours to look at. */
export function factOf(pid: number, name: 'stat' | 'status' | 'environ' | 'cmdline'): string | undefined {
  try {
    // Byte by byte: neither an environment nor a command line has to be UTF-8.
    return readFileSync(`${PROC}/${pid}/${name}`, 'latin1');
  } catch {
    return undefined;
  }
}

/** The fifth field of /proc/PID/stat. The second one is the program's name, which may hold spaces and brackets itself. */
export function groupOf(pid: number): number | undefined {
  const stat = factOf(pid, 'stat');
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

const PROC = '/proc';
