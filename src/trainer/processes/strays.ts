// Processes that a trainer started and that left its group (setsid, a double fork, a daemon): killing the group does not
// reach them. Each child carries a mark in its environment, which whoever it starts inherits; at its end, whoever still
// has the mark is ended, and told. Linux only; who gives its program another environment, or writes over its own, is not found.
import { randomBytes } from 'node:crypto';
import { bound } from '../../bounds.ts';
import { factOf, groupOf, processes } from './proc.ts';

/** The variable. PROTOCOL.md tells of it. */
export const MARK = 'LOSSPROOF_RUN';

/** What all marks of this harness begin with. */
export const RUN = randomBytes(8).toString('hex');

/** The value of one more child. */
export function nextMark(): string {
  marks += 1;
  return `${RUN}-${marks}`;
}

/** Ends who is left of a child and says who was: of its own group, which was killed, nobody counts. */
export async function endStrays(mark: string, group: number): Promise<void> {
  if (bearers(mark, group).length === 0) return;
  // A helper that ends with its trainer, in a session of its own, is given the time to do so.
  await new Promise((resolve) => void setTimeout(resolve, GRACE_MILLISECONDS));
  endStraysNow(mark, group);
}

/** The same at once, for a harness that ends itself. */
export function endStraysNow(mark: string, group: number): void {
  const ended = new Set<number>();
  // Who forks while it is looked for is found the next time; a process that was killed may be seen once more.
  for (let round = 0; round < ROUNDS; round++) {
    const left = bearers(mark, group).filter((pid) => !ended.has(pid));
    if (left.length === 0) return;
    for (const pid of left) {
      ended.add(pid);
      const command = commandOf(pid);
      if (end(pid)) untold.push(command);
    }
  }
}

/** What was ended since this was asked last, as one sentence; undefined: nothing. */
export function tellStrays(): string | undefined {
  const commands = untold.splice(0);
  if (commands.length === 0) return undefined;
  const counts = new Map<string, number>();
  for (const command of commands) counts.set(command, (counts.get(command) ?? 0) + 1);
  const shown = [...counts]
    .slice(0, SHOWN)
    .map(([command, times]) => (times === 1 ? command : `${command} (${times} times)`));
  const more = counts.size > SHOWN ? ', …' : '';
  const [subject, verb] =
    commands.length === 1 ? ['1 process', 'it was'] : [`${commands.length} processes`, 'they were'];
  return `${subject} that the trainer started left its process group and outlived it; ${verb} ended: ${shown.join(', ')}${more}.`;
}

let marks = 0;
const untold: string[] = [];

const GRACE_MILLISECONDS = bound({
  of: "waiting for processes that left the trainer's process group, after SIGTERM",
  wall: 200,
  over: 'SIGKILL',
});
/** A process that forks faster than it is killed is not chased for ever. */
const ROUNDS = 20;
/** Different commands in one sentence. */
const SHOWN = 3;
const COMMAND_CHARACTERS = 80;

function bearers(mark: string, group: number): readonly number[] {
  const entry = `\0${MARK}=${mark}\0`;
  return processes().filter(
    (pid) => `\0${factOf(pid, 'environ') ?? ''}`.includes(entry) && groupOf(pid) !== group,
  );
}

function end(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false; // it has ended meanwhile
  }
}

function commandOf(pid: number): string {
  const words = (factOf(pid, 'cmdline') ?? '').split('\0').filter((word) => word !== '');
  const command = words.length === 0 ? `process ${pid}` : words.join(' ');
  return command.length > COMMAND_CHARACTERS ? `${command.slice(0, COMMAND_CHARACTERS)}…` : command;
}
