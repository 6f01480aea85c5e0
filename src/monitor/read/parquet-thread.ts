// The library that reads Parquet believes what a file says of itself: a damaged count is counted to, wherever it stands. So it
// runs in a thread that is ended when it takes too long or too much.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { AsyncBuffer, Compressors, FileMetaData } from 'hyparquet';
import { bound, pace } from '../../bounds.ts';

/** Any part of a file, by its bytes. */
export interface RandomAccess {
  readonly byteLength: number;
  slice(start: number, end?: number): ArrayBuffer;
}

/** What a file says of one of its row groups. */
export interface RowGroup {
  readonly rows: number;
  /** Unpacked. */
  readonly bytes: number;
  /** Of each column, joined by NUL. */
  readonly columns: readonly string[];
}

export interface Parquet {
  /** To be asked first. */
  groups(): Promise<readonly RowGroup[]>;
  rows(from: number, to: number): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** A row group is decoded as a whole; one of rollouts is a few megabytes. */
export const LARGEST_GROUP = 64 * 2 ** 20;
/**
 * Rows of a group, values of a page, fields of a list. The thread survives an array of so many beyond its memory (8 MiB): what
 * is larger than the 16 MiB that Node adds then would end the process.
 */
export const MOST_VALUES = 2 ** 20;

const MOST_HEAP_MEGABYTES = 512;
/** Growth of the whole process, buffers and all. */
const MOST_GROWTH = 640 * 2 ** 20;
/** Of CPU time. A megabyte takes tens of milliseconds. */
const LEAST_MILLISECONDS = bound({
  of: 'decoding a Parquet file',
  cpu: 4_000,
  over: 'the file is passed over, with a sentence',
});
const MILLISECONDS_PER_MEGABYTE = bound({
  of: 'decoding a Parquet file: each megabyte, in addition',
  cpu: 1_000,
  over: 'the file is passed over, with a sentence',
});
const LOOK_MILLISECONDS = pace(50);

type Question = { readonly byteLength: number } | { readonly from: number; readonly to: number };
type Answer =
  | { readonly groups: readonly RowGroup[] }
  | { readonly rows: readonly Readonly<Record<string, unknown>>[] }
  | { readonly refused: string }
  | { readonly wants: number; readonly from: number; readonly to: number };

/** Threads without a file: a run has a file for each step, and none of them waits for a start. */
const idle: Worker[] = [];

/** @throws {Error} what is wrong with the file, in `read`'s questions. */
export async function inThread<T>(file: RandomAccess, read: (parquet: Parquet) => Promise<T>): Promise<T> {
  const worker = idle.pop() ?? start();
  let lives = true;
  const ask = async (question: Question): Promise<Answer> => {
    // A thread that waits for work must not keep the process alive.
    worker.ref();
    try {
      const answer = await answerOf(worker, question, file);
      if ('refused' in answer) throw new Error(answer.refused);
      return answer;
    } catch (error) {
      if (error instanceof Ended) lives = false;
      throw error;
    } finally {
      worker.unref();
    }
  };
  try {
    return await read({
      async groups() {
        const answer = await ask({ byteLength: file.byteLength });
        return 'groups' in answer ? answer.groups : [];
      },
      async rows(from, to) {
        const answer = await ask({ from, to });
        return 'rows' in answer ? answer.rows : [];
      },
    });
  } finally {
    if (lives) idle.push(worker);
    else await worker.terminate();
  }
}

/** The thread did not come to an answer. */
class Ended extends Error {}

function answerOf(worker: Worker, question: Question, file: RandomAccess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const used = process.cpuUsage();
    const before = process.memoryUsage.rss();
    const most = LEAST_MILLISECONDS + Math.ceil((MILLISECONDS_PER_MEGABYTE * file.byteLength) / 2 ** 20);
    const over = (): void => {
      clearInterval(look);
      worker.off('message', hear).off('error', fail).off('exit', fail);
    };
    const fail = (cause: unknown): void => {
      over();
      const isMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const why = cause instanceof Error ? cause.message : String(cause);
      reject(new Ended(isMemory ? TOO_MUCH : why));
    };
    const hear = (answer: Answer): void => {
      if (!('wants' in answer)) {
        over();
        resolve(answer);
        return;
      }
      try {
        worker.postMessage({ id: answer.wants, bytes: piece(file, answer.from, answer.to) });
      } catch (error) {
        worker.postMessage({
          id: answer.wants,
          reason: error instanceof Error ? error.message : String(error),
        });
      }
    };
    const look = setInterval(() => {
      // Of the whole process: this thread waits meanwhile.
      const { user, system } = process.cpuUsage(used);
      if (user + system > 1_000 * most)
        fail(`after ${Math.round(most / 1_000)} s of CPU time there is no end to it`);
      else if (process.memoryUsage.rss() - before > MOST_GROWTH) fail(TOO_MUCH);
    }, LOOK_MILLISECONDS);
    worker.on('message', hear).on('error', fail).on('exit', fail);
    worker.postMessage(question);
  });
}

const TOO_MUCH = `it takes more than ${MOST_HEAP_MEGABYTES} MiB`;

function piece(file: RandomAccess, from: number, to: number): ArrayBuffer {
  if (to - from > LARGEST_GROUP) throw new Error(`a column of ${to - from} bytes is more than is read`);
  return file.slice(from, to);
}

function start(): Worker {
  const library = pathToFileURL(createRequire(import.meta.url).resolve('hyparquet')).href;
  const worker = new Worker(PROGRAM, {
    eval: true,
    workerData: { library, most: MOST_VALUES },
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MEGABYTES },
  });
  // Its memory may end while it is being ended for its time, or while it is idle: nobody asks it any more, and an error that
  // nobody hears ends the process.
  worker.on('error', () => {});
  worker.once('exit', () => {
    const at = idle.indexOf(worker);
    if (at >= 0) idle.splice(at, 1);
  });
  worker.unref();
  return worker;
}

type Library = Pick<typeof import('hyparquet'), 'parquetMetadataAsync' | 'parquetReadObjects'>;
type Heard = Question | { readonly id: number; readonly bytes?: ArrayBuffer; readonly reason?: string };

/** What the thread runs. It is handed over as text, and knows nothing but its arguments. */
function serve(port: MessagePort, loading: Promise<Library>, compressors: Compressors, most: number): void {
  const plain = globalThis.Array;
  const BEYOND = 'a run of equal values is longer than all values that it says there are';
  const made = (args: readonly unknown[]): unknown[] => {
    const [length] = args;
    if (args.length !== 1 || typeof length !== 'number') return Reflect.construct(plain, args);
    if (length > most)
      throw new RangeError(`it says that ${length} values follow one another; ${most} are read at most`);
    // A run of equal values would be written as far as its own count says, beyond the array that was made for it.
    return Object.preventExtensions(Reflect.construct(plain, args).fill(undefined));
  };
  globalThis.Array = new Proxy(plain, {
    construct: (_, args) => made(args),
    apply: (_, __, args) => made(args),
  });
  // The library reads all columns at once, and where one throws nobody awaits the others.
  process.on('unhandledRejection', () => {});
  const waiting = new Map<number, (heard: { bytes?: ArrayBuffer; reason?: string }) => void>();
  let asked = 0;
  let file: AsyncBuffer = { byteLength: 0, slice: () => new ArrayBuffer(0) };
  let metadata: FileMetaData | undefined;
  const fileOf = (byteLength: number): AsyncBuffer => ({
    byteLength,
    slice: (from, to = byteLength) =>
      new Promise((resolve, reject) => {
        const id = asked++;
        waiting.set(id, ({ bytes, reason }) => {
          if (bytes === undefined) reject(new Error(reason));
          else resolve(bytes);
        });
        port.postMessage({ wants: id, from, to });
      }),
  });
  const answer = async (question: Question): Promise<unknown> => {
    const { parquetMetadataAsync, parquetReadObjects } = await loading;
    if ('byteLength' in question) {
      waiting.clear();
      file = fileOf(question.byteLength);
      metadata = undefined;
      // Places on the earth are in no rollout.
      metadata = await parquetMetadataAsync(file, { geoparquet: false });
      const groups = metadata.row_groups.map(({ num_rows: rows, total_byte_size: bytes, columns }) => ({
        rows: Number(rows),
        bytes: Number(bytes),
        columns: columns.map(({ meta_data: about }) => (about?.path_in_schema ?? []).join('\0')),
      }));
      return { groups };
    }
    if (metadata === undefined) throw new Error('its end was not read');
    const { from: rowStart, to: rowEnd } = question;
    return { rows: await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors }) };
  };
  port.on('message', async (heard: Heard) => {
    if ('id' in heard) {
      waiting.get(heard.id)?.(heard);
      waiting.delete(heard.id);
      return;
    }
    try {
      port.postMessage(await answer(heard));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      port.postMessage({ refused: /not extensible/.test(why) ? BEYOND : why });
    }
  });
}

/** The compressors are those that Node brings, beyond the library's own. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { brotliDecompressSync, gunzipSync } = require('node:zlib');
(${serve.toString()})(
  parentPort,
  import(workerData.library),
  {
    GZIP: (input, length) => gunzipSync(input, { maxOutputLength: length }),
    BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: length }),
  },
  workerData.most,
);
`;
