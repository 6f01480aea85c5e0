// What the trainers of this process, or of another one, have taken so far: processor time and memory, off /proc.
import { factOf, processes } from '../../../src/trainer/processes/proc.ts';
import { MARK } from '../../../src/trainer/processes/strays.ts';

/** Of the clock in which the kernel counts processor time; the same on every Linux. */
const TICKS_A_SECOND = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly seconds: number;
}

/** The trainers that a process has started itself: they carry the mark. */
export function trainersOf(parent: number): readonly Stat[] {
  return processes()
    .flatMap((pid) => statOf(pid) ?? [])
    .filter((each) => each.parent === parent && isTrainer(each.pid));
}

function isTrainer(pid: number): boolean {
  return (
    factOf(pid, 'environ')
      ?.split('\0')
      .some((each) => each.startsWith(`${MARK}=`)) === true
  );
}

/** Processor time of a process without that of its children. */
export function ownSeconds(pid: number): number | undefined {
  return statOf(pid)?.own;
}

function statOf(pid: number): (Stat & { readonly own: number }) | undefined {
  const text = factOf(pid, 'stat');
  if (text === undefined) return undefined;
  // Behind the name, which may hold anything: state, parent, ...; user and system time, and those of dead children.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, ofDead = 0, systemOfDead = 0] = fields
    .slice(11, 15)
    .map((ticks) => Number(ticks) / TICKS_A_SECOND);
  const own = user + system;
  return { pid, parent: Number(fields[1]), own, seconds: own + ofDead + systemOfDead };
}
