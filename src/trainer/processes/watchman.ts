// Who ends the trainers of a harness that was killed by SIGKILL, and so could not: a shell that holds a pipe to the harness,
// knows its living groups, and acts when the pipe ends. It is in a session of its own, so that what kills the harness'
// group does not kill it. Where there is no /bin/sh, a trainer only reads the end of its input.
import { spawn } from 'node:child_process';
import { MARK, RUN } from './strays.ts';

export interface Watchman {
  /** Of a group, by its leader's pid. */
  watch(pid: number): void;
  forget(pid: number): void;
}

export function watchman(): Watchman {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'lossproof-watchman', `${MARK}=${RUN}-`], {
    detached: true,
    cwd: '/', // no folder is kept busy by it
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' }, // without the mark of a harness that started this one
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const { stdin } = shell;
  shell.on('error', () => {});
  stdin.on('error', () => {});
  shell.unref();
  // The harness does not wait for it.
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  return {
    watch: (pid) => void stdin.write(`+ ${pid}\n`),
    forget: (pid) => void stdin.write(`- ${pid}\n`),
  };
}

/**
 * Two seconds are for trainers that end by themselves where their input ends. A harness that ended well has forgotten
 * everybody, and its shell goes at once.
 */
const SCRIPT = `
trap '' INT TERM HUP
live=
while read -r sign pid; do
  if [ "$sign" = + ]; then live="$live $pid"; continue; fi
  kept=
  for each in $live; do [ "$each" = "$pid" ] || kept="$kept $each"; done
  live=$kept
done
[ -n "$live" ] || exit 0
sleep 2
for each in $live; do kill -9 "-$each" 2>/dev/null; done
for file in /proc/[0-9]*/environ; do
  grep -qs "$1" "$file" || continue
  pid=\${file#/proc/}
  kill -9 "\${pid%/environ}" 2>/dev/null
done
`;
