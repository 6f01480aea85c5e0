// How much memory a group of processes holds, read where Linux tells it: no process is started to ask. Pages that several
// of them share count once for each, as in `top`.
import { readdirSync, readFileSync } from 'node:fs';

/** Resident bytes of all processes of a group, by its leader's pid; undefined where that cannot be known. */
export function residentBytes(group: number): number | undefined {
  let kilobytes = 0;
  let members = 0;
  for (const pid of processes()) {
    if (groupOf(pid) !== group) continue;
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(read(`${PROC}/${pid}/status`) ?? '')?.[1];
    if (resident === undefined) continue; // a zombie, or gone since
    members += 1;
    kilobytes += Number(resident);
  }
  return members === 0 ? undefined : kilobytes * 1024;
}

const PROC = '/proc';

function processes(): readonly string[] {
  try {
    return readdirSync(PROC).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The fifth field of /proc/PID/stat. The second one is the program's name, which may hold spaces and brackets itself. */
function groupOf(pid: string): number | undefined {
  const stat = read(`${PROC}/${pid}/stat`);
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // it has ended, or is not ours to look at
  }
}
