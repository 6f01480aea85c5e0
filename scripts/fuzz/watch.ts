// One reader in a process of its own, watched from outside: what no damage to a file may do is to throw, to go on for ever,
// or to take the memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseStrict } from '../../src/outside/json.ts';

/** Of the processor for one file, the largest of which are a megabyte; and of the clock, for what waits. */
const HANG_SECONDS = 10;
const WAIT_SECONDS = 120;
const MOST_HEAP_MEGABYTES = 512;
/** Of all of a process, beside its heap: buffers, and the engine itself. */
const MOST_BYTES = 2 ** 30;
const LOOK_MILLISECONDS = 500;

const worker = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));

/** What a process has told of itself. */
export interface Told {
  readonly inputs: number;
  /** Of the processor. */
  readonly seconds: number;
  /** Milliseconds of the processor for one file. */
  readonly slowest: number;
  /** Bytes, at most. */
  readonly memory: number;
}

export interface Asked {
  readonly reader: string;
  readonly seed: number;
  /** Of the processor. */
  readonly seconds: number;
  /** A path that begins no other's. */
  readonly scratch: string;
  readonly files: number;
  /** What leads further stays for the next time. */
  readonly keeps: boolean;
}

/** `how` it ended, where it should not have. */
export async function watched(
  { reader, seed, seconds, scratch, files, keeps }: Asked,
  signal: AbortSignal,
): Promise<Told & { readonly how: string | undefined }> {
  const words = [reader, `${seed}`, seconds.toFixed(1), scratch, `${files}`, keeps ? 'keep' : ''];
  const child = spawn(process.execPath, [`--max-old-space-size=${MOST_HEAP_MEGABYTES}`, worker, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const begin = performance.now();
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4_000);
  });
  let told: Told = { inputs: 0, seconds: 0, slowest: 0, memory: 0 };
  child.stdout.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const parsed = parseStrict(line);
      if ('ok' in parsed) told = parsed.ok as Told;
    }
  });
  let killed: string | undefined;
  let input = '';
  let [since, worked] = [performance.now(), 0];
  const look = setInterval(() => {
    const now = inputAt(`${scratch}.input`);
    const work = secondsOf(child);
    // Before the first file it loads all that reads.
    if (now !== input || now === '') {
      input = now;
      [since, worked] = [performance.now(), work];
    }
    if (residentOf(child) > MOST_BYTES) killed = `more than ${MOST_BYTES / 2 ** 20} MiB`;
    else if (work - worked > HANG_SECONDS) killed = `longer than ${HANG_SECONDS} s of the processor`;
    else if (performance.now() - since > 1_000 * WAIT_SECONDS) killed = `longer than ${WAIT_SECONDS} s`;
    if (killed !== undefined) child.kill('SIGKILL');
  }, LOOK_MILLISECONDS);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(look);
  signal.removeEventListener('abort', end);
  if (code === 0 || signal.aborted) return { ...told, how: undefined };
  const thrown = /^(?:Uncaught )?(\w*(?:Error|FATAL ERROR)\b.*)$/m.exec(stderr)?.[1];
  return {
    ...told,
    // One that ends before it has told anything had its time, too: else it would be begun for ever.
    seconds: Math.max(told.seconds, (performance.now() - begin) / 1_000),
    how: killed ?? thrown?.slice(0, 200) ?? `ended with ${code}: ${stderr.slice(-200)}`,
  };
}

/** What is being read, told apart from what was. */
function inputAt(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function residentOf({ pid }: ChildProcess): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return 1_024 * Number(kilobytes ?? 0);
  } catch {
    return 0;
  }
}

/** Of the processor, as Linux counts them; 0 elsewhere. */
function secondsOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[USER]) + Number(fields[USER + 1])) / TICKS;
  } catch {
    return 0;
  }
}

/** Of the fields behind the name: ticks in the program, and, next, in the system. */
const USER = 11;
const TICKS = 100;
