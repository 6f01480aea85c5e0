// Files of events as runs, for reports. What cannot be read is a sentence with the file's name as it was typed.
import { relative, resolve } from 'node:path';
import { MOST_GIVEN_BYTES, readBytes, readGiven } from '../../outside/file.ts';
import { readEvents } from '../../report/machine/ndjson.ts';
import { type Run, runsOf } from '../../report/runs.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { LAST_RUN } from './last-run.ts';

/** In the place of a file. */
export const STANDARD_INPUT = '-';

export interface SavedRuns {
  readonly runs: readonly Run[];
  /** Lines that were left out, one sentence each. */
  readonly problems: readonly string[];
}

/** The runs of all files in their order. One file that holds none refuses them all. */
export async function readRuns(
  files: readonly string[],
  context: Pick<Context, 'cwd'>,
): Promise<SavedRuns | Problem> {
  const all: SavedRuns[] = [];
  for (const file of files) {
    const read =
      file === STANDARD_INPUT
        ? runsOfText('standard input', await standardInput())
        : readRunFile(file, context, readGiven);
    if (isProblem(read)) return read;
    if (read.runs.length === 0) return { problem: `${file} is empty: no run has begun to write it` };
    all.push(read);
  }
  return { runs: all.flatMap(({ runs }) => runs), problems: all.flatMap(({ problems }) => problems) };
}

/** No runs where none has begun in it yet. A pipe is waited for only by `readGiven`, where the user named it to be read once. */
export function readRunFile(
  file: string,
  { cwd }: Pick<Context, 'cwd'>,
  reader: typeof readGiven = (path) => readBytes(path, MOST_GIVEN_BYTES),
): SavedRuns | Problem {
  const path = resolve(cwd, file);
  const read = file === LAST_RUN ? readBytes(path, MOST_GIVEN_BYTES) : reader(path);
  if ('complaint' in read)
    return { problem: `${file} cannot be read: ${unreadable(read.complaint, relative(cwd, path))}` };
  return runsOfText(file, read.ok.toString('utf8'));
}

function runsOfText(name: string, text: string): SavedRuns | Problem {
  const { events, problems } = readEvents(text);
  const named = problems.map((problem) => `${name}: ${problem}`);
  const [first] = named;
  if (events.length === 0 && first !== undefined) return { problem: first };
  return { runs: runsOf(events), problems: named };
}

function unreadable(complaint: string, file: string): string {
  if (/ENOENT/.test(complaint))
    return file === LAST_RUN
      ? 'no run is remembered here; `npx lossproof check` writes it, or name a file of --events'
      : 'there is no such file';
  return /is a folder/.test(complaint) ? 'it is a folder; name the files in it' : complaint;
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
