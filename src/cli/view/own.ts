// The trainer whose configuration it is, asked for its rows in the user's Python: `src/python/lossproof_view`. It is given some of
// the rows; the documented rules make the others, and all of them where it is not installed or does not answer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bound } from '../../bounds.ts';
import { isJsonObject, type JsonObject } from '../../outside/decoded.ts';
import { parsePython } from '../../outside/json.ts';
import { lineSplitter } from '../../protocol/lines.ts';
import { startChild } from '../../trainer/child.ts';
import { PYTHON_FOLDER } from '../../version.ts';
import type { KnownName } from '../../view/config/known.ts';
import type { OwnRow } from '../../view/own/own.ts';
import type { Ids } from '../../vocabulary.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { findPython } from '../trainer/python.ts';
import type { Source } from './source.ts';

/** Trainers that can be asked: what TRAINERS of lossproof_view has. */
export const ASKED: ReadonlySet<KnownName> = new Set(['trl', 'llama-factory', 'axolotl']);

export interface Question {
  readonly known: KnownName;
  /** As it is called in sentences. */
  readonly trainer: string;
  readonly config: string;
  readonly source: Source;
  /** Files that the rows are of. */
  readonly files: number;
  readonly python: string | undefined;
}

/** What the installed trainer said. */
export interface Told {
  readonly version: string;
  /** The Python that it is installed in. */
  readonly python: string;
  /** By the number of the entry; none for one that it leaves out. */
  readonly rows: ReadonlyMap<number, readonly OwnRow[]>;
  /** There are more rows than it was given. */
  readonly more: boolean;
  /** Values of its settings, defaults among them. */
  readonly settings: JsonObject;
  /** Keys that this version takes. */
  readonly keys: ReadonlySet<string>;
}

/** undefined in place of `told`: why the documented rules make all rows. */
export async function askTrainer(
  question: Question,
  context: Context,
  patience: number = ANSWER_MILLISECONDS,
): Promise<Told | { readonly because: string } | Problem> {
  const python = findPython(question.python, context);
  if (typeof python !== 'string') return python;
  const drawn = await drawnFrom(question);
  if (isProblem(drawn)) return drawn;
  const { lines, numbers, more } = drawn;
  if (lines.length === 0) return { because: `there are no rows to ask ${question.trainer} for` };
  const room = mkdtempSync(join(tmpdir(), 'lossproof-view-'));
  try {
    const request = {
      trainer: question.known,
      config: resolve(context.cwd, question.config),
      folder: context.cwd,
      room,
      files: question.files,
    };
    const heard = await answers(python, [JSON.stringify(request), ...lines], {
      room,
      env: context.env,
      patience,
    });
    return toldOf(heard, { python, numbers, more, trainer: question.trainer });
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

// --- helpers ---

/** A trainer makes some hundred rows per second; these are enough to see what it does otherwise. */
const MOST_ROWS = 1_000;
const MOST_BYTES = 2 ** 24;
/** `datasets` gives every row all columns: one row with each is drawn, up to so many. */
const MOST_COLUMNS = 100;

const ANSWER_MILLISECONDS = bound({
  of: 'waiting for the rows of an installed trainer (`view --config`)',
  wall: 180_000,
  over: 'it is killed, and the documented rules make the rows',
});

interface Drawn {
  readonly lines: readonly string[];
  readonly numbers: readonly number[];
  readonly more: boolean;
}

/** The first rows of each file, and the first with any column. */
async function drawnFrom({ source, files }: Question): Promise<Drawn | Problem> {
  const lines: string[] = [];
  const numbers: number[] = [];
  const columns = new Set<string>();
  const counts = Array.from({ length: files }, () => 0);
  let [bytes, more] = [0, false];
  const unread = await source.each(({ value, number, from = 0 }) => {
    if (!isJsonObject(value)) return;
    const fresh = Object.keys(value).filter((name) => !columns.has(name));
    const isNew = fresh.length > 0 && columns.size < MOST_COLUMNS;
    if (!isNew && ((counts[from] ?? 0) >= MOST_ROWS / files || bytes > MOST_BYTES)) {
      more = true;
      return;
    }
    for (const name of fresh) columns.add(name);
    const line = JSON.stringify({ file: from, number, row: value }, (_, each) =>
      typeof each === 'bigint' ? Number(each) : each,
    );
    counts[from] = (counts[from] ?? 0) + 1;
    bytes += line.length;
    numbers.push(number);
    lines.push(line);
  });
  if (unread !== undefined) return unread;
  return counts.some((count) => count === 0)
    ? { lines: [], numbers: [], more: false }
    : { lines, numbers, more };
}

interface Heard {
  readonly answers: readonly JsonObject[];
  /** How it ended, where that was not in order. */
  readonly ended?: string;
}

async function answers(
  python: string,
  lines: readonly string[],
  { room, env, patience }: { readonly room: string; readonly env: Context['env']; readonly patience: number },
): Promise<Heard> {
  const made: JsonObject[] = [];
  const splitter = lineSplitter();
  const variables = Object.entries(env).filter(
    (each): each is [string, string] => each[1] !== undefined && !LAUNCHED.has(each[0]),
  );
  const child = startChild(
    // Python imports from the folder that it is started in: what lies beside the data is no library.
    {
      command: [python, '-m', 'lossproof_view'],
      cwd: PYTHON_FOLDER,
      env: { ...Object.fromEntries(variables), ...ALONE, ...own(room) },
    },
    (chunk) => {
      for (const line of splitter.push(chunk)) {
        const parsed = typeof line === 'string' && line !== '' ? parsePython(line) : { complaint: '' };
        if ('ok' in parsed && isJsonObject(parsed.ok)) made.push(parsed.ok);
      }
    },
  );
  for (const line of lines) child.write(`${line}\n`);
  child.endInput();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void child.kill();
  }, patience);
  const { exitCode, signal, spawnError } = await child.exited;
  clearTimeout(timer);
  if (isLate) return { answers: [], ended: `made no rows within ${patience / 1_000} s` };
  if (spawnError !== undefined) return { answers: [], ended: `could not be started (${spawnError})` };
  if (exitCode === 0) return { answers: made };
  const last = child.stderrTail().trimEnd().split('\n').at(-1) ?? '';
  return {
    answers: [],
    ended: `ended with ${signal ?? `exit code ${exitCode ?? 0}`}${last === '' ? '' : `: ${last.slice(0, SHOWN_REASON)}`}`,
  };
}

const SHOWN_REASON = 200;

/** Variables of a launcher: this process would wait for its ranks. */
const LAUNCHED: ReadonlySet<string> = new Set([
  'RANK',
  'LOCAL_RANK',
  'WORLD_SIZE',
  'LOCAL_WORLD_SIZE',
  'MASTER_ADDR',
  'MASTER_PORT',
]);

/** No network, no GPU, and nothing written beside modules. */
const ALONE = {
  HF_HUB_OFFLINE: '1',
  HF_DATASETS_OFFLINE: '1',
  TRANSFORMERS_OFFLINE: '1',
  WANDB_MODE: 'disabled',
  CUDA_VISIBLE_DEVICES: '',
  HIP_VISIBLE_DEVICES: '',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONIOENCODING: 'utf-8',
};

const own = (room: string): Record<string, string> =>
  Object.fromEntries(
    ['HF_HOME', 'XDG_CACHE_HOME', 'MPLCONFIGDIR', 'TRITON_CACHE_DIR', 'TMPDIR'].map((name) => [name, room]),
  );

function toldOf(
  { answers: made, ended }: Heard,
  {
    python,
    numbers,
    more,
    trainer,
  }: Omit<Drawn, 'lines'> & { readonly python: string; readonly trainer: string },
): Told | { readonly because: string } {
  const last = made.at(-1) ?? {};
  const text = (name: string): string | undefined => {
    const value = last[name];
    return typeof value === 'string' ? value : undefined;
  };
  const version = text('version') ?? '';
  const [absent, broken, stops] = [text('absent'), text('broken'), text('stops')];
  if (absent !== undefined) return { because: `${python} has no package ${absent}` };
  if (broken !== undefined)
    return { because: `${trainer} ${version} of ${python} cannot be imported: ${broken}` };
  if (stops !== undefined)
    return { because: `${trainer} ${version} of ${python} makes no rows of this configuration: ${stops}` };
  if (ended !== undefined) return { because: `${trainer} in ${python} ${ended}` };
  const rows = new Map<number, OwnRow[]>(numbers.map((number) => [number, []]));
  for (const each of made.slice(0, -1)) {
    const { number, ids, labels } = each;
    const list = typeof number === 'number' ? rows.get(number) : undefined;
    if (list === undefined || !isIds(ids) || !isIds(labels) || ids.length !== labels.length)
      return { because: `the answer of ${trainer} ${version} in ${python} cannot be read` };
    list.push({ ids, labels });
  }
  if (version === '' || !isJsonObject(last.settings) || !Array.isArray(last.keys))
    return { because: `the answer of ${python} cannot be read` };
  const keys = new Set(last.keys.filter((key) => typeof key === 'string'));
  return { version, python, rows, more, settings: last.settings, keys };
}

const isIds = (value: unknown): value is Ids =>
  Array.isArray(value) && value.every((each) => Number.isSafeInteger(each));
