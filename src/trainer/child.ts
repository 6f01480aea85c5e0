// A child process in a group of its own: the only place that starts one. It moves bytes and decides when the
// child is gone; what the bytes mean is connection.ts. A user's own program is started here, too, with our terminal.
import { delimiter } from 'node:path';
import { isatty } from 'node:tty';
import { execa } from 'execa';
import { bound } from '../bounds.ts';
import { PYTHON_FOLDER } from '../version.ts';
import type { ChildOptions } from './child-options.ts';
import { guard, release, signalGroup } from './processes/orphans.ts';
import { endStrays, MARK, nextMark } from './processes/strays.ts';
import { ring } from './ring.ts';

/** How a child ended; `spawnError` (a code such as ENOENT) when it never began. */
export interface ChildExit {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly spawnError?: string;
}

export interface Child {
  /** Of the group that it leads; undefined when it never began. */
  readonly pid: number | undefined;
  write(text: string): void;
  /** Closes its stdin, which is how a trainer is told to end. */
  endInput(): void;
  /** SIGTERM to the group, SIGKILL after half a second. Resolves when it is gone. */
  kill(): Promise<ChildExit>;
  /** Its last output was read, or the grace is over; the rest of its group is dead, and who had left it. */
  readonly exited: Promise<ChildExit>;
  /** It has closed its standard output and lives on: nothing can be heard of it any more. */
  readonly closedOutput: Promise<void>;
  /** Its standard output has ended, whether it lives on or not. */
  isSilent(): boolean;
  stderrTail(): string;
  /** Adds a line of the harness's own to the stderr tail. */
  note(line: string): void;
}

/** Time for a trainer that handles SIGTERM to write what it must. */
const TERM_MILLISECONDS = bound({
  of: 'waiting for a process to end after SIGTERM',
  wall: 500,
  over: 'SIGKILL',
});
/**
 * Between `exit` and the decision: its last lines may still be in the pipe. The pipe's end is not waited for
 * longer, because a grandchild that inherited it can hold it open for ever.
 */
const EXIT_GRACE_MILLISECONDS = bound({
  of: 'reading the last output of a process that has ended',
  wall: 1_000,
  over: 'the rest is not read: a process of its own holds the pipe open',
});

/** Between the end of its output and the decision that it lives on: a process that ends closes everything, too, and may be slow. */
const CLOSED_GRACE_MILLISECONDS = bound({
  of: 'waiting for the end of a process that has closed its standard output',
  wall: 5_000,
  over: 'it is killed: `error`',
});

export function startChild(options: ChildOptions, onStdout: (chunk: Buffer) => void): Child {
  const { words, variables } = withoutEnv(options.command);
  const [file = '', ...rest] = words;
  const tail = ring();
  const mark = nextMark();
  const subprocess = execa(file, rest, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...options.env, ...variables, PYTHONPATH: pythonPath(options.env), [HARNESS]: '1', [MARK]: mark },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    // Its own group, so that what it starts dies with it; on Windows a console of its own, and trees are killed instead.
    detached: !WINDOWS,
    windowsHide: true,
    buffer: false,
    reject: false,
    cleanup: false, // orphans.ts kills the group, execa would kill the leader only
  });
  const { pid, stdin, stdout, stderr } = subprocess;
  stdout.on('data', onStdout);
  stderr.on('data', (chunk: Buffer) => tail.push(chunk));
  // EPIPE says that the child is gone, but not why: the exit does, and it comes.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});

  let isSilent = false;
  const silent = once(stdout, 'end').then(() => {
    isSilent = true;
  });
  const drained = Promise.all([silent, once(stderr, 'end')]);
  const exited = pid === undefined ? spawnFailure(subprocess) : new Promise<ChildExit>(whenGone);

  const closedOutput = new Promise<void>((resolve) => {
    void silent.then(async () => {
      const gone = await Promise.race([exited, sleep(CLOSED_GRACE_MILLISECONDS)]);
      if (gone === undefined) resolve();
    });
  });

  function whenGone(resolve: (exit: ChildExit) => void): void {
    if (pid === undefined) return;
    guard(pid, mark);
    subprocess.once('exit', async (exitCode: number | null, signal: string | null) => {
      let grace: NodeJS.Timeout | undefined;
      const over = new Promise((resolve) => {
        grace = setTimeout(resolve, EXIT_GRACE_MILLISECONDS);
      });
      await Promise.race([drained, over]);
      clearTimeout(grace);
      signalGroup(pid, 'SIGKILL');
      await endStrays(mark, pid);
      release(pid);
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
      resolve(signal === null ? { exitCode: exitCode ?? 0 } : { signal });
    });
  }

  async function kill(): Promise<ChildExit> {
    if (pid === undefined || subprocess.exitCode !== null || subprocess.signalCode !== null) return exited;
    signalGroup(pid, 'SIGTERM');
    const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), TERM_MILLISECONDS);
    const exit = await exited;
    clearTimeout(timer);
    return exit;
  }

  return {
    pid,
    write: (text) => void (stdin.writable && stdin.write(text)),
    endInput: () => void stdin.end(),
    kill,
    exited,
    closedOutput,
    isSilent: () => isSilent,
    stderrTail: tail.text,
    note: (line) => tail.push(Buffer.from(`${line}\n`)),
  };
}

/** A user's own program: what it reads and writes is its own business. */
export interface Attached {
  /** Ctrl-C: passed on where no terminal has done it. */
  interrupt(): void;
  /** SIGTERM, SIGKILL after half a second. Of what it started in turn, only what it ends itself. */
  kill(): void;
  readonly exited: Promise<ChildExit>;
}

export interface AttachedOptions extends ChildOptions {
  /** It reads nothing, and writes into these descriptors in place of our terminal. */
  readonly into?: readonly [stdout: number, stderr: number];
}

/**
 * Starts a program with our own stdin, stdout and stderr. It stays in our process group: a terminal gives its input,
 * and Ctrl-C, to the group in the foreground only, and stops any other that reads. It dies with us, unless we are killed.
 */
export function startAttached({ command, cwd, env, into }: AttachedOptions): Attached {
  const [file = '', ...rest] = command;
  const subprocess = execa(file, rest, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    // execa takes any descriptor, and its types those below ten.
    stdio: into === undefined ? 'inherit' : ['ignore', into[0] as 3, into[1] as 3],
    reject: false,
  });
  const { pid } = subprocess;
  const exited =
    pid === undefined
      ? spawnFailure(subprocess)
      : new Promise<ChildExit>((resolve) => {
          subprocess.once('exit', (exitCode: number | null, signal: string | null) =>
            resolve(signal === null ? { exitCode: exitCode ?? 0 } : { signal }),
          );
        });
  return {
    interrupt: () => {
      if (!STANDARD_STREAMS.some((stream) => isatty(stream))) subprocess.kill('SIGINT');
    },
    kill: () => {
      subprocess.kill('SIGTERM');
      const timer = setTimeout(() => subprocess.kill('SIGKILL'), TERM_MILLISECONDS);
      void exited.then(() => clearTimeout(timer));
    },
    exited,
  };
}

/** `env NAME=VALUE program` where there is no `env`. */
export function withoutEnv(
  command: readonly string[],
  windows: boolean = WINDOWS,
): { readonly words: readonly string[]; readonly variables: Readonly<Record<string, string>> } {
  if (!windows || command[0] !== 'env') return { words: command, variables: {} };
  const begin = command.findIndex((word, at) => at > 0 && !/^\w+=/.test(word));
  const given = command.slice(1, begin < 0 ? undefined : begin);
  return {
    words: begin < 0 ? [] : command.slice(begin),
    variables: Object.fromEntries(
      given.map((word) => [word.split('=', 1)[0], word.slice(word.indexOf('=') + 1)]),
    ),
  };
}

const WINDOWS = process.platform === 'win32';

const STANDARD_STREAMS = [0, 1, 2];

/** Says to an SDK that standard output is the protocol's, before anything that it imports can print; PROTOCOL.md. */
const HARNESS = 'LOSSPROOF_PIPE';

function pythonPath(env: Readonly<Record<string, string>> | undefined): string {
  const before = env?.PYTHONPATH ?? process.env.PYTHONPATH;
  return before === undefined || before === '' ? PYTHON_FOLDER : `${PYTHON_FOLDER}${delimiter}${before}`;
}

async function spawnFailure(result: Promise<object>): Promise<ChildExit> {
  const settled: { code?: string; originalMessage?: string } = await result;
  // A missing working folder is ENOENT too; execa's sentence is the only thing that tells it apart.
  if (/\bcwd\b/.test(settled.originalMessage ?? '')) return { spawnError: 'CWD' };
  return { spawnError: settled.code ?? settled.originalMessage ?? 'unknown' };
}

function once(stream: NodeJS.ReadableStream, event: string): Promise<void> {
  return new Promise((resolve) => void stream.once(event, () => resolve()));
}

/** While the child lives its handle keeps this process waiting; when it has gone, no timer may. */
function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds).unref());
}
