// No process of a trainer outlives the harness: live groups, and who has left them, are killed when the harness exits,
// throws or is signalled. Of SIGKILL the harness hears nothing; there the watchman (watchman.ts) does it.
import { spawnSync } from 'node:child_process';
import { endStraysNow } from './strays.ts';
import { type Watchman, watchman } from './watchman.ts';

/** Registers a process group by its leader's pid, with the mark in its environment. */
export function guard(pid: number, mark: string): void {
  if (groups.size === 0) {
    // First, so that whoever listens, too, can tell whom it has ended.
    process.prependListener('exit', killAll);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  }
  groups.set(pid, mark);
  awake ??= watchman();
  awake.watch(pid);
}

export function release(pid: number): void {
  awake?.forget(pid);
  if (!groups.delete(pid) || groups.size > 0) return;
  process.off('exit', killAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Signals every process of a group. A group that is gone already is no error. Windows knows neither groups nor SIGTERM. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    // The end of its input has told a trainer to end; what is left of its tree is killed.
    if (signal === 'SIGKILL')
      spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: gone. EPERM: macOS says so for a group of zombies.
  }
}

/** By the leader's pid: its mark. */
const groups = new Map<number, string>();
let awake: Watchman | undefined;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function killAll(): void {
  for (const pid of groups.keys()) signalGroup(pid, 'SIGKILL');
  for (const [pid, mark] of groups) endStraysNow(mark, pid);
}

function onSignal(signal: NodeJS.Signals): void {
  // Whoever else listens (the command line finishes its case first) ends the process, and 'exit' kills the groups.
  if (process.listenerCount(signal) > 1) return;
  killAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}
