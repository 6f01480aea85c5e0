// No process group outlives the harness: live groups are killed when the harness exits, throws or is signalled.
// Nothing can be done about SIGKILL of the harness, except that a trainer then reads the end of its input.

/** Registers a process group by its leader's pid. */
export function guard(pid: number): void {
  if (groups.size === 0) {
    process.on('exit', killAll);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  }
  groups.add(pid);
}

export function release(pid: number): void {
  if (!groups.delete(pid) || groups.size > 0) return;
  process.off('exit', killAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Signals every process of a group. A group that is gone already is no error. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: gone. EPERM: macOS says so for a group of zombies.
  }
}

const groups = new Set<number>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function killAll(): void {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
}

function onSignal(signal: NodeJS.Signals): void {
  // Whoever else listens (the command line finishes its case first) ends the process, and 'exit' kills the groups.
  if (process.listenerCount(signal) > 1) return;
  killAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}
