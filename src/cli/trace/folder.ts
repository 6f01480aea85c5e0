// The folder of a trace: made before a script runs, read when it has ended, or again later.
import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readBytes } from '../../outside/file.ts';
import { makeFolders } from '../../outside/folder.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import { readTrace } from '../../trace/records/read.ts';
import type { ReadRecord } from '../../trace/records/shapes.ts';
import type { Context, Problem } from '../context.ts';
import { cannotBeWritten, writeOnce } from '../outputs/written.ts';
import { CASES_FOLDER } from '../trainer/cases-folder.ts';

/** Under the working directory, a folder for each trace by its time. */
export const TRACES: string = join(dirname(CASES_FOLDER), 'trace');

export interface TraceFiles {
  /** As typed, or as seen from the working directory. */
  readonly folder: string;
  /** Of each process, what it recorded. */
  readonly processes: readonly (readonly ReadRecord[])[];
  /** What could not be read, a sentence each. */
  readonly complaints: readonly string[];
}

/** A fresh folder, as seen from the working directory. */
export function makeTraceFolder(
  out: string | undefined,
  { cwd }: Pick<Context, 'cwd'>,
  now: Date,
  parent = TRACES,
): string | Problem {
  const folder = out ?? freeName(join(parent, stampOf(now)), cwd);
  const path = resolve(cwd, folder);
  try {
    if (existsSync(path) && (!statSync(path).isDirectory() || readdirSync(path).length > 0))
      return { problem: `--out: ${folder} is there already; name a folder that is new or empty` };
    makeFolders(path);
    // Traces hold what was trained: they are no part of a repository, whatever else is kept beside them.
    if (out === undefined) writeOnce(join(dirname(path), '.gitignore'), '*\n');
    return folder;
  } catch (error) {
    return { problem: `${folder} ${cannotBeWritten(error)}` };
  }
}

/** Every process's records; of a folder of traces, those of the last. A folder without any is a problem. */
export function readTraceFolder(named: string, { cwd }: Pick<Context, 'cwd'>): TraceFiles | Problem {
  const path = resolve(cwd, named);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { problem: `there is no folder ${named}` };
  if (!found.isDirectory())
    return { problem: `${named} is a file; name the folder of the trace, ${dirname(named)}` };
  const own = filesIn(path);
  const folder = own.length > 0 ? path : lastTraceIn(path);
  if (folder === undefined)
    return { problem: `${named} holds no trace: there is no file RANK-PID.ndjson in it` };
  const read = (own.length > 0 ? own : filesIn(folder)).map((file) => readFile(join(folder, file)));
  return {
    folder: own.length > 0 ? named : join(named, relative(path, folder)),
    processes: read.map(({ records }) => records),
    complaints: read.flatMap(({ complaints }) => complaints),
  };
}

/** Of a command that never was, or that left nothing. */
export function dropIfEmpty(folder: string, { cwd }: Pick<Context, 'cwd'>): void {
  try {
    rmdirSync(resolve(cwd, folder));
  } catch {
    // It holds something after all, which is the user's to look at.
  }
}

/** Whether any process has recorded anything. */
export function hasTrace(folder: string, { cwd }: Pick<Context, 'cwd'>): boolean {
  return filesIn(resolve(cwd, folder)).length > 0;
}

/**
 * The tokenizer that the script trained with, as the tracer saved it. Of several, the last whose ids the largest model
 * has: a reward model may bring its own, with more.
 */
export function recordedTokenizer(
  { folder, processes }: TraceFiles,
  { cwd }: Pick<Context, 'cwd'>,
): { readonly tokenizer?: Tokenizer; readonly problem?: string } {
  const records = processes.flat();
  const saved = records.flatMap((record) => (record.kind === 'tokenizer' ? [record] : []));
  if (saved.length === 0) return {};
  const sizes = records.flatMap((record) => (record.kind === 'model' ? [record.vocab_size] : []));
  const largest = sizes.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...sizes);
  const fitting = saved.filter(({ vocab_size }) => vocab_size <= largest);
  const chosen = (fitting.length > 0 ? fitting : saved).at(-1);
  // A trace is a file of anybody's: nothing outside of its folder is read for it.
  const name = basename(chosen?.folder ?? '');
  const loaded = loadTokenizer(join(resolve(cwd, folder), name));
  return 'problem' in loaded
    ? { problem: `The script's tokenizer is not used: ${loaded.problem}` }
    : { tokenizer: loaded.tokenizer };
}

// --- helpers ---

const filesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.ndjson'))
    .sort();

/** Names of traces begin with their time, so that the last by name is the last. */
function lastTraceIn(folder: string): string | undefined {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort()
    .findLast((each) => filesIn(each).length > 0);
}

function readFile(file: string): { records: readonly ReadRecord[]; complaints: readonly string[] } {
  try {
    const bytes = readBytes(file, MOST_TRACE_BYTES);
    if ('complaint' in bytes)
      return { records: [], complaints: [`${basename(file)} cannot be read: ${bytes.complaint}`] };
    const { records, complaints, torn } = readTrace(bytes.ok, basename(file));
    const cut = `${basename(file)} is cut off in its last line: the process was killed while it wrote.`;
    return { records, complaints: torn ? [...complaints, cut] : complaints };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { records: [], complaints: [`${basename(file)} cannot be read: ${why}`] };
  }
}

/** What one buffer of the engine is certain to hold. */
const MOST_TRACE_BYTES = 2 ** 31;

/** `2026-03-01T09-30-00`, in UTC: no colons, which not every file system has. */
function stampOf(now: Date): string {
  return now
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(':', '-');
}

function freeName(folder: string, cwd: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? folder : `${folder}-${count}`;
    if (!existsSync(resolve(cwd, name))) return name;
  }
}
