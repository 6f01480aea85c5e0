const HELP = `Damages every kind of file that is read from outside, and looks for what no damage may do: a throw, a hang, memory
without end. Damaged files that reach code which none had reached are damaged further.

  npm run fuzz -- --minutes 2              of the processor, shared by all readers
  npm run fuzz -- --only trace --seed 7    one reader, the same damages again
  npm run fuzz -- --only answers --only hello --files 100000   so many files each, as many minutes as they take
  npm run fuzz -- --write --minutes 120 --at-once 2   for docs/hostile.md: those that have had least go first, until
                                           each has had an hour; what leads further is kept in scripts/fuzz/corpus

--keep FOLDER (fuzz-found) gets what ended a reader. Exit code 1 where anything did. Ctrl-C ends it (130), and what was done counts.
`;

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { READERS } from './readers.ts';
import { cellsOf, NOTHING, record, recorded, together } from './record.ts';
import { type Told, watched } from './watch.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    only: { type: 'string', multiple: true },
    seed: { type: 'string' },
    files: { type: 'string' },
    keep: { type: 'string', default: 'fuzz-found' },
    write: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

/** Behind which what was done is written down. */
const SLICE_SECONDS = 300;
/** What each reader is to have had. */
const WHOLE_SECONDS = 3_600;
/** A reader whose time is nearly over is not begun again. */
const LEAST_SECONDS = 2;

interface Found {
  readonly reader: string;
  readonly how: string;
  readonly file: string;
}

const names = Object.keys(READERS).filter((name) => values.only?.includes(name) ?? true);
if (names.length === 0)
  throw new Error(`there is no reader ${values.only}: there are ${Object.keys(READERS)}`);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
/** Of each reader; a number of files needs the time that it needs. */
const most = Number(values.files ?? Number.POSITIVE_INFINITY);
const folder = mkdtempSync(join(tmpdir(), 'lossproof fuzz '));
process.stdout.write(`seed ${seed}, ${names.length} readers\n`);
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());

const found: Found[] = [];
const done = new Map<string, Told>(
  names.map((name) => [name, (values.write ? recorded().get(name) : undefined) ?? NOTHING]),
);
const busy = new Set<string>();
const turns = values.write ? thoseWithLeast() : eachOnce();
try {
  await Promise.all(Array.from({ length: Number(values['at-once']) }, lane));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print();
process.exitCode = interrupted.signal.aborted ? 130 : found.length > 0 ? 1 : 0;

interface Turn {
  readonly reader: string;
  /** Of the processor. */
  readonly seconds: number;
}

function* eachOnce(): Generator<Turn> {
  const seconds = (60 * Number(values.minutes)) / names.length;
  for (const reader of names)
    yield { reader, seconds: values.files === undefined ? seconds : Number.POSITIVE_INFINITY };
}

function* thoseWithLeast(): Generator<Turn> {
  const had = (name: string): number => done.get(name)?.seconds ?? 0;
  for (let left = 60 * Number(values.minutes); left > 0; left -= SLICE_SECONDS) {
    const [reader] = names
      .filter((name) => !busy.has(name) && WHOLE_SECONDS - had(name) > LEAST_SECONDS)
      .sort((one, other) => had(one) - had(other));
    if (reader === undefined) return;
    yield { reader, seconds: Math.min(left, SLICE_SECONDS, WHOLE_SECONDS - had(reader)) };
  }
}

/** One reader at a time, until there is none left. */
async function lane(): Promise<void> {
  for (let turn = turns.next(); !turn.done && !interrupted.signal.aborted; turn = turns.next()) {
    const { reader, seconds } = turn.value;
    busy.add(reader);
    const { told, ended } = await fuzz(reader, seconds);
    busy.delete(reader);
    found.push(...ended);
    // Where something was found, the time without begins again.
    const before = ended.length > 0 ? undefined : done.get(reader);
    const all = together(before ?? NOTHING, told);
    done.set(reader, all);
    if (values.write) {
      process.stderr.write(`${[reader, ...cellsOf(all)].join(', ')}\n`);
      record(new Map([...recorded(), ...done]));
    }
  }
}

/** One reader for its time; where a process ends before, another goes on with other damages. */
async function fuzz(reader: string, seconds: number): Promise<{ told: Told; ended: readonly Found[] }> {
  let told = NOTHING;
  const ended: Found[] = [];
  // Damages that no earlier time has tried.
  const first = seed + Math.round(done.get(reader)?.inputs ?? 0);
  for (let round = 0; seconds - told.seconds > LEAST_SECONDS && told.inputs < most; round++) {
    const scratch = join(folder, `scratch ${names.indexOf(reader)} ${round}`);
    const { how, ...said } = await watched(
      {
        reader,
        seed: first + 7_919 * round,
        seconds: seconds - told.seconds,
        scratch,
        files: most - told.inputs,
        keeps: values.write,
      },
      interrupted.signal,
    );
    told = together(told, said);
    if (how === undefined) break;
    ended.push({ reader, how, file: kept(reader, first + 7_919 * round, `${scratch}.input`) });
  }
  return { told, ended };
}

function kept(reader: string, own: number, input: string): string {
  if (!existsSync(input)) return 'none: the undamaged file did it';
  mkdirSync(values.keep, { recursive: true });
  const file = join(values.keep, `${reader.replaceAll(/\W+/g, '-')}-${own}`);
  copyFileSync(input, file);
  return file;
}

function print(): void {
  const lines = [...done].map(([reader, told]) => [
    reader,
    `${found.filter((each) => each.reader === reader).length}`,
    ...cellsOf(told),
  ]);
  const table = [['reader', 'found', 'minutes', 'files', 'slowest', 'memory'], ...lines];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((line) => line[at]?.length ?? 0))) ?? [];
  for (const line of table)
    process.stdout.write(
      `${line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')}\n`,
    );
  for (const { reader, how, file } of found) process.stdout.write(`${reader}: ${how}\n  ${file}\n`);
}
