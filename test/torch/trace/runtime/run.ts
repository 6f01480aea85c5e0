// Runs a command with the tracer in its environment, as `lossproof trace` does, and reads the files that it left.
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { readTrace } from '../../../../src/trace/records/read.ts';
import type { ReadRecord } from '../../../../src/trace/records/shapes.ts';
import { PACKAGE_ROOT } from '../../../../src/version.ts';

const PYTHON = join(PACKAGE_ROOT, 'src', 'python');
const BIN = join(PACKAGE_ROOT, '.venv', 'bin');
export const FOLDER = join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'runtime');

export interface Options {
  /** 0: to the end. */
  readonly steps?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A folder behind the tracer's in PYTHONPATH. */
  readonly behind?: string;
  readonly untraced?: boolean;
}

export interface Ran {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly folder: string;
  /** Records of each process, in the order of the files' names: by rank. */
  readonly processes: readonly Process[];
}

export interface Process {
  readonly file: string;
  readonly records: readonly ReadRecord[];
  readonly complaints: readonly string[];
  readonly kinds: readonly string[];
}

export function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'lossproof runtime '));
}

export async function run(words: readonly string[], options: Options = {}): Promise<Ran> {
  const { steps = 2, env = {}, behind, untraced = false } = options;
  const folder = join(temporary(), 'trace');
  const path = [
    join(PYTHON, 'lossproof_trace', 'bootstrap'),
    PYTHON,
    ...(behind === undefined ? [] : [behind]),
  ];
  const traced = {
    PYTHONPATH: path.join(':'),
    LOSSPROOF_TRACE: folder,
    LOSSPROOF_TRACE_STEPS: String(steps),
    LOSSPROOF_TRACE_MODE: 'auto',
  };
  const [command = '', ...rest] = words;
  const ran = await execa(existsSync(join(BIN, command)) ? join(BIN, command) : command, rest, {
    cwd: FOLDER,
    env: { OMP_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '1', ...(untraced ? {} : traced), ...env },
    reject: false,
    stripFinalNewline: false,
    stdin: 'ignore',
  });
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.ndjson')) : [];
  const processes = files.sort().map((file) => {
    const { records, complaints } = readTrace(readFileSync(join(folder, file), 'utf8'), file);
    return { file, records, complaints, kinds: records.map(({ kind }) => kind) };
  });
  return {
    exitCode: ran.exitCode,
    signal: ran.signal,
    stdout: ran.stdout,
    stderr: ran.stderr,
    folder,
    processes,
  };
}

/** The records of one kind, of one process or several. */
export function recordsOf<K extends ReadRecord['kind']>(
  kind: K,
  ...processes: readonly Process[]
): readonly Extract<ReadRecord, { readonly kind: K }>[] {
  return processes.flatMap(({ records }) =>
    records.filter((record): record is Extract<ReadRecord, { readonly kind: K }> => record.kind === kind),
  );
}

/** The processes that called a model; the others are launchers and helpers. */
export const trainers = ({ processes }: Ran): readonly Process[] =>
  processes.filter(({ kinds }) => kinds.includes('model'));

export function only<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined || list.length !== 1) throw new Error(`one was expected, there are ${list.length}`);
  return first;
}
