// What the trainers of this process, or of another one, have taken so far: processor time and memory, off /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Of the clock in which the kernel counts processor time; the same on every Linux. */
const TICKS_A_SECOND = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly seconds: number;
}

/** The trainers that a process has started itself: what it asks of the system in between is none. */
export function trainersOf(parent: number): readonly Stat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(name) ?? [])
    .filter((each) => each.parent === parent && isTrainer(each.pid));
}

function isTrainer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('lossproof.examples');
  } catch {
    return false;
  }
}

function statOf(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may hold anything: state, parent, ...; user and system time, and those of dead children.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((all, each) => all + Number(each), 0);
    return { pid: Number(pid), parent: Number(fields[1]), seconds: ticks / TICKS_A_SECOND };
  } catch {
    return undefined; // gone since
  }
}
