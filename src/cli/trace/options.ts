// What is typed for `trace`, as what is meant: one sentence where it is not to be understood.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { readGiven, readJson } from '../../outside/file.ts';
import { parseStrict } from '../../outside/json.ts';
import { decodeHello } from '../../protocol/hello.ts';
import { PROTOCOL } from '../../protocol/message.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import { type DeclaredMarks, decodeMarks } from '../../trace/spans/declared-marks.ts';
import { type Entry, entriesOf, formatOf } from '../../view/read.ts';
import type { Level, Semantics } from '../../vocabulary.ts';
import { namedTokenizer } from '../check/plan.ts';
import type { RecordOptions } from '../check/record.ts';
import type { LoadedConfig } from '../config/config.ts';
import type { Context, Problem } from '../context.ts';
import { collect, levelName, wholeNumber, wholePositive } from '../options.ts';
import { addOutputOptions } from '../outputs/outputs.ts';
import { readTraceFolder, TRACES, type TraceFiles } from './folder.ts';

export interface TraceOptions extends RecordOptions {
  readonly steps: number;
  readonly keepGoing?: boolean;
  readonly keepCompiled?: boolean;
  readonly slopes?: boolean;
  readonly mode: 'auto' | 'exact' | 'cheap';
  readonly dataset?: string;
  readonly trainOn?: 'assistant' | 'last' | 'completion' | 'all';
  readonly frozen?: readonly string[];
  readonly tokenizer?: string;
  readonly semantics?: string;
  readonly marks?: string;
  readonly shrink?: number;
  readonly out?: string;
  readonly from?: string;
  readonly after?: string;
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly known?: string;
  readonly strict?: boolean;
  readonly meant?: readonly string[];
  readonly rows?: number;
  readonly full?: boolean;
  readonly quiet?: boolean;
  readonly ledger?: string;
}

/** Enough to see that a step follows a step; most scripts are through with both in seconds. */
const STEPS = 2;

export function addTraceOptions(command: Command): Command {
  command
    .option('--steps <n>', 'optimiser steps before the script is stopped', wholePositive, STEPS)
    .option('--keep-going', 'let the script run to its end; every step is recorded')
    .option('--keep-compiled', 'keep torch.compile on; it hides what happens in compiled code')
    .option(
      '--slopes',
      'compare the gradient of each tensor with the loss, in one step; two forward passes per tensor',
    )
    .addOption(
      new Option('--mode <mode>', 'search for targets').choices(['auto', 'exact', 'cheap']).default('auto'),
    )
    .option(
      '--dataset <file>',
      'the training data as JSON lines, from which it knows what each row should train',
    )
    .addOption(
      new Option('--train-on <what>', 'what should be trained').choices([
        'assistant',
        'last',
        'completion',
        'all',
      ]),
    )
    .option(
      '--frozen <names>',
      'parts of names of tensors that must not move, * for anything; separated by commas; repeatable',
      collect,
    )
    .option('--tokenizer <dir>', "folder with tokenizer.json (default: the script's own)")
    .option(
      '--marks <json>',
      'texts or ids that begin and end the turns of each role, if there is no chat template; JSON or a file',
    )
    .option('--semantics <json>', 'declared choices of the trainer, as in PROTOCOL.md; JSON or a file')
    .option('--shrink <runs>', 'find the smallest failing data set, in at most this many runs', wholePositive)
    .option('--out <dir>', `folder for the trace (default: ${TRACES}/TIME)`)
    .option('--from <dir>', 'judge a recorded trace, without running anything')
    .option(
      '--after <dir>',
      'the trace of the run that this one resumes; compares rows, rates and step counts',
    )
    .option('--only <ids>', 'properties by id, stage or glob, separated by commas; repeatable', collect)
    .option(
      '--level <level>',
      'levels to run: must, should (default), may; each includes those before it',
      levelName,
    )
    .option('--known <file>', 'known failures: {"id": {"reason": "..."}}')
    .option('--strict', 'also fail on legal but suspicious choices; unless they are declared')
    .option(
      '--meant <ids>',
      'properties whose notices you accept, so that --strict does not fail on them; separated by commas; repeatable',
      collect,
    )
    .option(
      '--rows <count>',
      'number of rows to show, wrong ones first (default: a few; 0: none)',
      wholeNumber,
    )
    .option('--full', 'show every token of long rows')
    .option('--quiet', 'print failures and the final line only')
    .option(
      '--ledger <file>',
      'write every row with targets and weights, and the verdicts, as one JSON object',
    );
  return addOutputOptions(command).option(
    '--no-annotations',
    'do not annotate the job or write its summary in GitHub Actions',
  );
}

/** What the user says of the run, read and understood. */
export interface Told {
  /** Typed; over the script's own. */
  readonly tokenizer?: Tokenizer;
  /** The configuration's: where the script's own was not seen. */
  readonly fallback?: string;
  readonly semantics?: Semantics;
  readonly marks?: DeclaredMarks;
  readonly dataset?: readonly Entry[];
  /** The trace of the run that this one resumes. */
  readonly after?: TraceFiles;
}

export function toldOf(
  options: TraceOptions,
  loaded: LoadedConfig | undefined,
  context: Context,
): Told | Problem {
  const semantics = semanticsOf(options.semantics, loaded, context);
  if (semantics !== undefined && isProblemOf(semantics)) return semantics;
  const marks = marksOf(options.marks, context);
  if (marks !== undefined && 'problem' in marks) return marks;
  const dataset = options.dataset === undefined ? undefined : datasetOf(options.dataset, context);
  if (dataset !== undefined && 'problem' in dataset) return dataset;
  const after = options.after === undefined ? undefined : readTraceFolder(options.after, context);
  if (after !== undefined && 'problem' in after) return { problem: `--after: ${after.problem}` };
  const folder = namedTokenizer(options, loaded, context.cwd);
  const typed = options.tokenizer === undefined || folder === undefined ? undefined : loadTokenizer(folder);
  if (typed !== undefined && 'problem' in typed) return typed;
  return {
    ...typed,
    ...(typed !== undefined || folder === undefined ? {} : { fallback: folder }),
    ...(semantics === undefined ? {} : { semantics: semantics.semantics }),
    ...marks,
    ...(dataset === undefined ? {} : { dataset: dataset.rows }),
    ...(after === undefined ? {} : { after }),
  };
}

// --- helpers ---

type Understood = { readonly semantics: Semantics };

function isProblemOf(value: Understood | Problem): value is Problem {
  return 'problem' in value;
}

/** The configuration's, under what is typed. */
function semanticsOf(
  typed: string | undefined,
  loaded: LoadedConfig | undefined,
  context: Context,
): Understood | Problem | undefined {
  const written = loaded?.config.semantics;
  if (typed === undefined) return written === undefined ? undefined : { semantics: written };
  const json = jsonOf('--semantics', typed, context);
  if ('problem' in json) return json;
  const read = decodeHello({ protocol: PROTOCOL, name: 'trace', ops: {}, semantics: json.value });
  if ('complaint' in read)
    return { problem: `--semantics: ${read.complaint.replace('hello.semantics', 'it')}` };
  return { semantics: { ...written, ...read.ok.semantics } };
}

function marksOf(
  typed: string | undefined,
  context: Context,
): { marks: DeclaredMarks } | Problem | undefined {
  if (typed === undefined) return undefined;
  const json = jsonOf('--marks', typed, context);
  if ('problem' in json) return json;
  const read = decodeMarks(json.value);
  return 'problem' in read ? { problem: `--marks: ${read.problem}` } : read;
}

/** Typed as it is, or the file that is named. */
function jsonOf(option: string, typed: string, { cwd }: Context): { readonly value: unknown } | Problem {
  const inline = typed.trimStart().startsWith('{');
  if (!inline && !existsSync(resolve(cwd, typed)))
    return { problem: `${option}: there is no file ${typed}, and JSON begins with {` };
  const read = inline ? parseStrict(typed) : readJson(resolve(cwd, typed));
  if ('ok' in read) return { value: read.ok };
  const hint = inline ? "; quote it for the shell with '...'" : '';
  return { problem: `${option} is not JSON (${read.complaint})${hint}` };
}

function datasetOf(file: string, { cwd }: Context): { readonly rows: readonly Entry[] } | Problem {
  const read = readGiven(resolve(cwd, file));
  if ('complaint' in read)
    return {
      problem: `--dataset: ${/ENOENT/.test(read.complaint) ? `there is no file ${file}` : `${file} cannot be read: ${read.complaint}`}`,
    };
  const bytes = read.ok;
  const other = formatOf(bytes);
  if (other !== undefined) return { problem: `--dataset: ${file} is ${other}` };
  const rows = [...entriesOf(bytes)];
  const unread = rows.find(({ problem }) => problem !== undefined);
  if (rows.length === 0) return { problem: `--dataset: ${file} has no rows` };
  if (unread !== undefined)
    return { problem: `--dataset: ${file}, row ${unread.number}: ${unread.problem ?? ''}` };
  return { rows };
}
