// How much memory a group of processes holds, read where Linux tells it. Pages that several of them share count once for
// each, as in `top`.
import { factOf, groupOf, processes } from './proc.ts';

/** Resident bytes of all processes of a group, by its leader's pid; undefined where that cannot be known. */
export function residentBytes(group: number): number | undefined {
  let kilobytes = 0;
  let members = 0;
  for (const pid of processes()) {
    if (groupOf(pid) !== group) continue;
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(factOf(pid, 'status') ?? '')?.[1];
    if (resident === undefined) continue; // a zombie, or gone since
    members += 1;
    kilobytes += Number(resident);
  }
  return members === 0 ? undefined : kilobytes * 1024;
}
