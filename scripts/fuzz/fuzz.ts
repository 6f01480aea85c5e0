// Damages every kind of file that is read from outside, and looks for what no damage may do: a throw, a hang, memory without
// end. `npm run fuzz -- --minutes 2`, the time shared by all readers; `--only trace` takes one, `--seed 7` the same
// damages again; `--files 100000` ends each reader behind so many (`--only answers --only hello`: lines of the protocol). What ended a reader is kept in --keep. Exit code 1 where anything did.
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseStrict } from '../../src/outside/json.ts';
import { READERS } from './readers.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    only: { type: 'string', multiple: true },
    seed: { type: 'string' },
    files: { type: 'string' },
    keep: { type: 'string', default: 'fuzz-found' },
  },
});

/** Of the processor for one file, the largest of which are a megabyte; and of the clock, for what waits. */
const HANG_SECONDS = 10;
const WAIT_SECONDS = 120;
const MOST_HEAP_MEGABYTES = 512;
/** Of all of a process, beside its heap: buffers, and the engine itself. */
const MOST_BYTES = 2 ** 30;
const LOOK_MILLISECONDS = 500;
const MOST_SECONDS = 36_000;

interface Found {
  readonly how: string;
  readonly file: string;
}

interface Row {
  readonly reader: string;
  inputs: number;
  slowest: number;
  memory: number;
  readonly found: Found[];
}

const worker = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));
const names = Object.keys(READERS).filter((name) => values.only?.includes(name) ?? true);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
/** Of each reader; a number of files needs the time that it needs. */
const most = Number(values.files ?? Number.POSITIVE_INFINITY);
const seconds =
  values.files === undefined ? (60 * Number(values.minutes)) / Math.max(1, names.length) : MOST_SECONDS;
const folder = mkdtempSync(join(tmpdir(), 'lossproof fuzz '));
const each = values.files === undefined ? `${seconds.toFixed(1)} s` : `${most.toLocaleString('en')} files`;
process.stdout.write(`seed ${seed}, ${names.length} readers, ${each} each\n`);
const rows: Row[] = [];
try {
  for (const name of names) rows.push(await fuzz(name));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print(rows);
process.exitCode = rows.some(({ found }) => found.length > 0) ? 1 : 0;

/** One reader for its time; where a process ends before, another goes on with other damages. */
async function fuzz(reader: string): Promise<Row> {
  const row: Row = { reader, inputs: 0, slowest: 0, memory: 0, found: [] };
  const end = performance.now() + 1_000 * seconds;
  for (let round = 0; performance.now() < end - LOOK_MILLISECONDS && row.inputs < most; round++) {
    const left = (end - performance.now()) / 1_000;
    const scratch = join(folder, `scratch ${names.indexOf(reader)} ${round}`);
    const how = await runWorker(row, [
      reader,
      String(seed + 7_919 * round),
      left.toFixed(1),
      scratch,
      String(most - row.inputs),
    ]);
    if (how === undefined) break;
    row.found.push({ how, file: keep(reader, round, `${scratch}.input`) });
  }
  return row;
}

/** How it ended, where it should not have. */
async function runWorker(row: Row, args: readonly string[]): Promise<string | undefined> {
  const child = spawn(process.execPath, [`--max-old-space-size=${MOST_HEAP_MEGABYTES}`, worker, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const before = row.inputs;
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4_000);
  });
  child.stdout.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const told = parseStrict(line);
      if (!('ok' in told)) continue;
      const { inputs, slowest, memory } = told.ok as { inputs: number; slowest: number; memory: number };
      row.inputs = before + inputs;
      row.slowest = Math.max(row.slowest, slowest);
      row.memory = Math.max(row.memory, memory);
    }
  });
  let killed: string | undefined;
  let input = '';
  let [since, worked] = [performance.now(), 0];
  const look = setInterval(() => {
    const now = inputAt(`${args[3]}.input`);
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
  if (code === 0) return undefined;
  const thrown = /^(?:Uncaught )?(\w*(?:Error|FATAL ERROR)\b.*)$/m.exec(stderr)?.[1];
  return killed ?? thrown?.slice(0, 200) ?? `ended with ${code}: ${stderr.slice(-200)}`;
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

function keep(reader: string, round: number, input: string): string {
  if (!existsSync(input)) return 'none: the undamaged file did it';
  mkdirSync(values.keep, { recursive: true });
  const file = join(values.keep, `${reader.replaceAll(/\W+/g, '-')}-${seed}-${round}`);
  copyFileSync(input, file);
  return file;
}

function print(all: readonly Row[]): void {
  const lines = all.map(({ reader, inputs, slowest, memory, found }) => [
    reader,
    inputs.toLocaleString('en'),
    `${found.length}`,
    `${slowest.toFixed(0)} ms`,
    `${(memory / 2 ** 20).toFixed(0)} MiB`,
  ]);
  const table = [['reader', 'files', 'found', 'slowest', 'memory'], ...lines];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((line) => line[at]?.length ?? 0))) ?? [];
  for (const line of table)
    process.stdout.write(
      `${line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')}\n`,
    );
  for (const { reader, found } of all)
    for (const { how, file } of found) process.stdout.write(`${reader}: ${how}\n  ${file}\n`);
}
