// Parquet files, row by row: TRL writes its completions so, one file a step. The format itself is read by hyparquet.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import type { LogSink } from '../series.ts';
import { objectReader } from './json/objects.ts';
import type { Complain } from './reader.ts';

/** Any part of a file, by its bytes. */
export interface RandomAccess {
  readonly byteLength: number;
  slice(start: number, end?: number): ArrayBuffer;
}

export interface ParquetOptions {
  /** As samples name it. */
  readonly path: string;
  readonly run: string;
}

/**
 * Pushes every row. False: the file has no end yet and is read again when it has grown. Such a file is written in one go,
 * and its end says where everything is.
 */
export async function readParquet(
  { path, run }: ParquetOptions,
  file: RandomAccess,
  sink: LogSink,
  complain: Complain,
): Promise<boolean> {
  if (!isWhole(file)) return false;
  try {
    const metadata = await parquetMetadataAsync(file);
    const largest = Math.max(0, ...metadata.row_groups.map(({ total_byte_size: size }) => Number(size)));
    if (largest > LARGEST_GROUP) {
      complain(
        `It has a row group of ${(largest / 2 ** 20).toFixed(0)} MiB, more than rollouts are written with (${LARGEST_GROUP / 2 ** 20} MiB); it is not read.`,
      );
      return true;
    }
    const most = metadata.row_groups.find(
      ({ num_rows: rows }) => !(Number(rows) >= 0 && Number(rows) <= MOST_ROWS),
    );
    if (most !== undefined) {
      complain(
        `It says that a row group has ${String(most.num_rows)} rows; ${MOST_ROWS.toLocaleString('en')} are read at most.`,
      );
      return true;
    }
    const doubled = metadata.row_groups.find(hasDoubled);
    if (doubled !== undefined) {
      complain('It has two columns of one name; it is not read.');
      return true;
    }
    await readRows(metadata, { path, run }, file, sink);
  } catch (error) {
    complain(`It cannot be read as Parquet: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return true;
}

/** It begins and ends with the format's four letters, and both ends are not the same. */
export function isWhole(file: RandomAccess): boolean {
  if (file.byteLength < SMALLEST) return false;
  const end = new Uint8Array(file.slice(file.byteLength - MAGIC.length));
  return MAGIC.every((code, at) => end[at] === code);
}

/** `PAR1` */
export const MAGIC: readonly number[] = [0x50, 0x41, 0x52, 0x31];
/** Magic, length of the footer, magic. */
const SMALLEST = 12;
/** A row group is decoded as a whole; one of rollouts is a few megabytes. */
const LARGEST_GROUP = 64 * 2 ** 20;

/** Of two columns of one name the library awaits one. */
function hasDoubled({ columns }: FileMetaData['row_groups'][number]): boolean {
  const paths = columns.map(({ meta_data: about }) => (about?.path_in_schema ?? []).join('\0'));
  return new Set(paths).size < paths.length;
}

/** A damaged count would be counted up to, however few the bytes are. */
const MOST_ROWS = 2 ** 20;

/**
 * The library begins to read all columns, and where the next step throws nobody hears what becomes of them: two damaged
 * columns would end the process. So that it is handed no bytes before it listens, and none at all once it has thrown.
 */
async function heard<T>(file: RandomAccess, read: (file: HeldFile) => Promise<T>): Promise<T> {
  let over = false;
  const held: HeldFile = {
    byteLength: file.byteLength,
    slice: (start, end) =>
      new Promise((resolve, reject) => {
        setImmediate(() => {
          if (over) return;
          try {
            resolve(file.slice(start, end));
          } catch (error) {
            reject(error);
          }
        });
      }),
  };
  try {
    return await read(held);
  } finally {
    over = true;
  }
}

interface HeldFile {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

async function readRows(
  metadata: FileMetaData,
  { path, run }: ParquetOptions,
  file: RandomAccess,
  sink: LogSink,
): Promise<void> {
  const objects = objectReader(run, sink);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await heard(file, (held) =>
      parquetReadObjects({ file: held, metadata, rowStart, rowEnd, compressors: COMPRESSORS }),
    );
    rows.forEach((row, index) => {
      const number = rowStart + index + 1;
      objects.push(plain(row) as Record<string, unknown>, number, `${path} row ${number}`);
    });
    rowStart = rowEnd;
  }
}

/** Beyond what the library brings itself, what Node can unpack. */
const COMPRESSORS = {
  GZIP: (input: Uint8Array, length: number): Uint8Array => gunzipSync(input, { maxOutputLength: length }),
  BROTLI: (input: Uint8Array, length: number): Uint8Array =>
    brotliDecompressSync(input, { maxOutputLength: length }),
};

/** int64 comes as bigint. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>, plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
