// Parquet files, row by row: TRL writes its completions so, one file per step. The format itself is read by hyparquet.
import type { LogSink } from '../series.ts';
import { objectReader } from './json/objects.ts';
import { inThread, LARGEST_GROUP, MOST_VALUES, type RandomAccess, type RowGroup } from './parquet-thread.ts';
import type { Complain } from './reader.ts';

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
  const objects = objectReader(run, sink);
  const unread = await eachParquetRow(file, (row, number) =>
    objects.push(row, number, `${path} row ${number}`),
  );
  if (unread !== undefined) complain(unread);
  return true;
}

/** Hands over each row, counted from 1; what keeps the rest from being read, in a sentence. */
export async function eachParquetRow(
  file: RandomAccess,
  look: (row: Record<string, unknown>, number: number) => void,
): Promise<string | undefined> {
  try {
    return await inThread(file, async (parquet) => {
      const groups = await parquet.groups();
      const unread = groups.map(whyUnread).find((why) => why !== undefined);
      if (unread !== undefined) return unread;
      let from = 0;
      for (const { rows: count } of groups) {
        const rows = await parquet.rows(from, from + count);
        for (const [index, row] of rows.entries())
          look(plain(row) as Record<string, unknown>, from + index + 1);
        from += count;
      }
      return undefined;
    });
  } catch (error) {
    return `It cannot be read as Parquet: ${error instanceof Error ? error.message : String(error)}.`;
  }
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

function whyUnread({ rows, bytes, columns }: RowGroup): string | undefined {
  const megabytes = (of: number): string => (of / 2 ** 20).toFixed(0);
  if (bytes > LARGEST_GROUP)
    return `It has a row group of ${megabytes(bytes)} MiB, more than rollouts are written with (${megabytes(LARGEST_GROUP)} MiB); it is not read.`;
  // A damaged count would be counted up to, however few the bytes are.
  if (!(rows >= 0 && rows <= MOST_VALUES))
    return `It says that a row group has ${rows} rows; ${MOST_VALUES.toLocaleString('en')} are read at most.`;
  // Of two columns of one name the library awaits one.
  if (new Set(columns).size < columns.length) return 'It has two columns of one name; it is not read.';
  return undefined;
}

/** int64 comes as bigint. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>, plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
