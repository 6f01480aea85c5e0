// `merge`: the parts of a run, judged on several machines or in several jobs, as one verdict, one report and one exit code.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { RunEvent } from '../../check/events.ts';
import { readGiven } from '../../outside/file.ts';
import { replayFor } from '../../report/failure/reproduce.ts';
import { merged, type Part } from '../../report/merge.ts';
import type { Run } from '../../report/runs.ts';
import { terminalReport } from '../../report/terminal.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { openRecord, type RecordOptions } from '../check/record.ts';
import { SHARDS_FOLDER } from '../check/shard.ts';
import { type Context, isProblem, type Problem, refuse } from '../context.ts';
import { exitCodeOf, HOLDS, NO_VERDICT, whyNoVerdict } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { widthOfScreen } from '../screen.ts';
import { LAST_RUN } from './last-run.ts';
import { addOutputOptions } from './outputs.ts';
import { readRunFile } from './saved-runs.ts';

export interface MergeOptions extends RecordOptions {
  readonly quiet?: boolean;
  readonly rows?: boolean;
}

export function addMerge(program: Command, { context, finish }: Invocation): void {
  const command = tell(program.command('merge'), WORDS)
    .summary('merge the parts of a run into one verdict')
    .description('merge the parts of a run into one verdict (check --shard)')
    .argument('[files...]', `event files of the parts (default: those in ${SHARDS_FOLDER})`)
    .option('--rows', 'print one line per property')
    .option('--quiet', 'print failures and the final line only');
  addOutputOptions(command)
    .option('--no-annotations', 'do not annotate the job or write its summary in GitHub Actions')
    .action(async (files: readonly string[], options: MergeOptions) =>
      finish(await merge(files, options, context)),
    );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof check --shard 1/2 --seed 7 -- python adapter.py' },
    { command: 'npx lossproof check --shard 2/2 --seed 7 -- python adapter.py' },
    { command: 'npx lossproof merge' },
    { command: 'npx lossproof merge artifacts/*.ndjson --html report.html --junit junit.xml' },
  ],
  notes: [`The merged run is saved in ${LAST_RUN}, which \`npx lossproof report\` shows.`],
  exit: {
    0: 'all properties hold',
    1: 'one fails',
    2: 'no verdict: a part is missing, incomplete, duplicate, or of another run',
  },
};

async function merge(files: readonly string[], options: MergeOptions, context: Context): Promise<number> {
  const parts = readParts(files, context);
  if (isProblem(parts)) return refuse(context, parts);
  const { events } = options;
  const input = parts.find(
    ({ name }) => events !== undefined && resolve(context.cwd, name) === resolve(context.cwd, events),
  );
  if (input !== undefined)
    return refuse(context, { problem: `--events: ${events} is one of the parts; name another file` });
  return await mergeParts(parts, options, context);
}

/** Prints the run that these parts are, writes its reports, keeps it, and says with which code to end. */
export async function mergeParts(
  parts: readonly Part[],
  options: MergeOptions,
  context: Context,
): Promise<number> {
  const result = merged(parts);
  if ('problems' in result) {
    context.err.write(`lossproof: no verdict\n${result.problems.map((each) => `  ${each}\n`).join('')}`);
    return NO_VERDICT;
  }
  const { run } = result;
  const record = openRecord(options, context);
  if (isProblem(record)) return refuse(context, record);
  try {
    const report = terminalReport({
      write: context.out.write,
      width: widthOfScreen(context),
      paint: choosePaint(context.out.isTty, context.env),
      replay: replayFor(run),
      live: false,
      quiet: options.quiet === true,
      rows: options.rows === true,
      note: partsWords(parts),
      now: () => performance.now(),
    });
    for (const event of eventsOf(run)) {
      record.emit(event);
      report(event);
    }
    const written = await record.finish();
    const code = exitCodeOf(run.results, false, run.start.properties);
    if (code === NO_VERDICT)
      context.err.write(`lossproof: ${whyNoVerdict(run.results, run.start.properties)}\n`);
    return code === HOLDS && !written ? NO_VERDICT : code;
  } finally {
    record.close();
  }
}

/** With the times of the first and the last: a part that was left over from an older run shows. */
function partsWords(parts: readonly Part[]): string {
  const begun = parts.flatMap(({ run }) => run.start.started ?? []).sort();
  const [first, last] = [begun[0], begun.at(-1)].map((time) => time?.slice(0, 'YYYY-MM-DDThh:mm'.length));
  const when =
    first === undefined ? '' : first === last ? ` begun ${first}Z` : ` begun ${first}Z to ${last}Z`;
  return `of ${plural(parts.length, 'part')}${when}`;
}

function eventsOf({ start, results, notices = [], end }: Run): readonly RunEvent[] {
  return [
    start,
    ...results.map((result) => ({ type: 'property-end', result }) as const),
    ...notices.map((sentence) => ({ type: 'notice', sentence }) as const),
    ...(end === undefined ? [] : [end]),
  ];
}

/** One run in each file. */
export function readParts(files: readonly string[], context: Context): readonly Part[] | Problem {
  const named = files.length > 0 ? files : shardFiles(context);
  if (named.length === 0)
    return {
      problem: `no parts in ${SHARDS_FOLDER}: \`check --shard i/n\` writes them, or name their files`,
    };
  const parts: Part[] = [];
  const problems: string[] = [];
  for (const name of named) {
    // Nobody waits for a pipe that lies among our own files.
    const read = files.length > 0 ? readRunFile(name, context, readGiven) : readRunFile(name, context);
    if (isProblem(read)) problems.push(read.problem);
    else if (read.problems.length > 0) problems.push(...read.problems);
    else if (read.runs.length === 0) problems.push(`${name} is empty: no run has begun to write it`);
    else parts.push(...read.runs.map((run) => ({ run, name })));
  }
  return problems.length > 0 ? { problem: problems.join('; ') } : parts;
}

function shardFiles({ cwd }: Context): readonly string[] {
  try {
    return readdirSync(resolve(cwd, SHARDS_FOLDER))
      .filter((name) => name.endsWith('.ndjson'))
      .sort()
      .map((name) => join(SHARDS_FOLDER, name));
  } catch {
    return [];
  }
}
