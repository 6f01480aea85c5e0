// Runs a script of `../scripts/` under `lossproof trace`, as a user does, and reads what came of it: the exit code, the
// verdicts, and the ledger of what the script trained.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { PropertyResult, RunEvent } from '../../../../src/index.ts';
import { familyFolder, loadTokenizer } from '../../../../src/tokenizers/load.ts';
import type { Tokenizer } from '../../../../src/tokenizers/tokenizer.ts';
import type { Ledger } from '../../../../src/trace/ledger.ts';
import { ledgerOf } from '../../../../src/trace/ledger-of.ts';
import { readTrace } from '../../../../src/trace/records/read.ts';
import type { ReadRecord } from '../../../../src/trace/records/shapes.ts';
import { PACKAGE_ROOT } from '../../../../src/version.ts';
import { warm } from '../warm/warm.ts';

const SCRIPTS = join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'scripts');
/** Scripts of places/ are run where peft, deepspeed and others are; LOSSPROOF_VENV is another environment for all. */
const binFor = ({ words }: Asked): string => {
  const own = join(
    PACKAGE_ROOT,
    words.includes(' places/') || words.startsWith('places/') ? '.venv-places' : '.venv',
  );
  return join(process.env.LOSSPROOF_VENV ?? own, 'bin');
};
/** Another build than the package's own, for work on several at a time. */
const DIST = process.env.LOSSPROOF_DIST ?? join(PACKAGE_ROOT, 'dist');
const MAIN = join(DIST, 'src', 'cli', 'main.js');
const EVENTS = 'events.ndjson';

/** Words of a command: a script's name and its arguments; `{data}`, `{out}` and `{model}` stand for paths. */
export type Words = string;

export interface Asked {
  readonly words: Words;
  /** JSON lines for `{data}`. */
  readonly data?: readonly unknown[];
  /** Options of `trace`, before `--`; `{data}` stands in them, too. */
  readonly options?: string;
}

export interface Traced {
  readonly exitCode: number | undefined;
  /** What a person sees: standard output and standard error. */
  readonly out: string;
  readonly results: readonly PropertyResult[];
  readonly records: readonly (readonly ReadRecord[])[];
  readonly ledger: Ledger;
}

/** Where a run has its files; and after so many seconds it is ended, and has no exit code. */
export interface Within {
  readonly folder: string;
  readonly seconds?: number;
}

async function environment(bin: string): Promise<Readonly<Record<string, string>>> {
  const folder = await warm(bin);
  return {
    OMP_NUM_THREADS: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    // What scripts in folders of their own share with the others.
    PYTHONPATH: SCRIPTS,
    PATH: `${folder}:${bin}:${process.env.PATH ?? ''}`,
    // What torchrun starts its ranks with.
    PYTHON_EXEC: join(folder, 'python'),
  };
}

/**
 * Where a run has no time for all scripts, LOSSPROOF_TRACE_PART is `1/2`: of each list the first, third, ... Two runs have them
 * all.
 */
export function ofPart<T>(list: readonly T[]): readonly T[] {
  const [part = 1, parts = 1] = (process.env.LOSSPROOF_TRACE_PART ?? '1/1').split('/').map(Number);
  return list.filter((_, at) => at % parts === part - 1);
}

/** Runs it, each time in a folder of its own. */
export async function traced(asked: Asked, within?: Within): Promise<Traced> {
  const { folder, seconds = 0 } = within ?? { folder: mkdtempSync(join(tmpdir(), 'lossproof trace ')) };
  const { options, command } = laidOut(asked, folder);
  const bin = binFor(asked);
  const env = await environment(bin);
  if (asked.words.includes('{model}'))
    await execa(join(bin, 'python'), [join(SCRIPTS, 'save_model.py'), join(folder, 'model')], { env });
  const run = await execa(
    process.execPath,
    [
      MAIN,
      'trace',
      '--out',
      join(folder, 'trace'),
      '--events',
      join(folder, EVENTS),
      ...options,
      '--',
      ...command,
    ],
    { cwd: SCRIPTS, env, reject: false, all: true, stdin: 'ignore', timeout: seconds * 1000 },
  );
  return readRun(folder, run.exitCode, run.all, asked);
}

/** The same command without the tracer, with the files that a traced run left. */
export async function plain(
  asked: Asked,
  { folder, seconds = 0 }: Within,
): Promise<{ readonly exitCode: number | undefined; readonly out: string }> {
  const env = await environment(binFor(asked));
  const [program = '', ...words] = laidOut(asked, folder).command;
  const run = await execa(program, words, {
    cwd: SCRIPTS,
    env,
    reject: false,
    all: true,
    stdin: 'ignore',
    timeout: seconds * 1000,
  });
  return { exitCode: run.exitCode, out: run.all };
}

/** What is typed, with the paths of `folder` in it; the data lie there. */
export function laidOut(
  { words, data = [], options = '' }: Asked,
  folder: string,
): { readonly options: readonly string[]; readonly command: readonly string[] } {
  const set = join(folder, 'set');
  const paths: Readonly<Record<string, string>> = {
    '{data}': join(set, 'train.jsonl'),
    '{set}': set,
    '{out}': join(folder, 'out'),
    '{model}': join(folder, 'model'),
    '{qwen}': familyFolder('qwen'),
  };
  mkdirSync(set, { recursive: true });
  mkdirSync(join(folder, 'out'), { recursive: true });
  writeFileSync(join(set, 'train.jsonl'), data.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const filled = (text: string): readonly string[] =>
    text
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => paths[word] ?? word);
  return { options: filled(options), command: filled(commandOf(words)) };
}

/** What a run left in its folder. */
export function readRun(
  folder: string,
  exitCode: number | undefined,
  out: string,
  { options = '' }: Asked,
): Traced {
  const trace = join(folder, 'trace');
  const events = join(folder, EVENTS);
  const records = recordsIn(trace);
  return {
    exitCode,
    out,
    results: existsSync(events) ? resultsIn(events) : [],
    records,
    ledger: ledgerOf(
      records,
      options.includes('{qwen}') ? loaded(familyFolder('qwen')) : tokenizerOf(trace, records),
    ),
  };
}

/** What failed that must or should hold: the property, and its sentence. */
export function blamedIn({ results }: Traced): readonly (readonly [string, string])[] {
  return results
    .filter(({ verdict, level }) => level !== 'may' && !['pass', 'unsupported', 'skipped'].includes(verdict))
    .map(({ id, failure, reason }) => [id, failure?.finding?.sentence ?? reason ?? '']);
}

/**
 * A script's name alone is run by Python, its tensors on LOSSPROOF_DEVICE where that is set (`cuda`); anything else is a command by
 * itself.
 */
const commandOf = (words: Words): string => {
  if (!/^\S+\.py\b/.test(words)) return words;
  return process.env.LOSSPROOF_DEVICE === undefined ? `python ${words}` : `python on_device.py ${words}`;
};

function recordsIn(trace: string): readonly (readonly ReadRecord[])[] {
  if (!existsSync(trace)) return [];
  const files = readdirSync(trace).filter((file) => file.endsWith('.ndjson'));
  return files.sort().map((file) => readTrace(readFileSync(join(trace, file), 'utf8'), file).records);
}

function tokenizerOf(
  trace: string,
  records: readonly (readonly ReadRecord[])[],
): { readonly tokenizer?: Tokenizer } {
  const saved = records.flat().find((record) => record.kind === 'tokenizer');
  if (saved === undefined) return {};
  return loaded(join(trace, saved.folder));
}

function loaded(folder: string): { readonly tokenizer?: Tokenizer } {
  const tokenizer = loadTokenizer(folder);
  return 'tokenizer' in tokenizer ? tokenizer : {};
}

function resultsIn(file: string): readonly PropertyResult[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines
    .map((line): RunEvent => JSON.parse(line))
    .flatMap((event) => (event.type === 'property-end' ? [event.result] : []));
}
