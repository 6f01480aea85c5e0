// A file that somebody else may have put there: only a regular one is opened, since a pipe that nobody writes into would be
// waited for, for ever, and only one of a size that is meant to be held in memory. What the user names may be a pipe, too.
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import type { Decoded } from './decoded.ts';
import { parsePython, parseStrict, withoutMark } from './json.ts';

/** What people and tools write for us to read whole: configurations, cases, golden files; of tokenizers the largest has 33 MB. */
export const MOST_FILE_BYTES = 2 ** 26;

export function readBytes(path: string, most: number = MOST_FILE_BYTES): Decoded<Buffer> {
  try {
    const status = statSync(path);
    if (status.isDirectory()) return { complaint: 'it is a folder' };
    if (!status.isFile()) return { complaint: 'it is no file but a pipe or a device' };
    if (status.size > most)
      return {
        complaint: `it has ${status.size.toLocaleString('en')} bytes; ${most.toLocaleString('en')} are read at most`,
      };
    return { ok: readFileSync(path) };
  } catch (error) {
    return { complaint: error instanceof Error ? error.message : String(error) };
  }
}

/** The end of a file, as far as it can be read: of `most` bytes at most, and without a line that is cut off before them. */
export function readEnd(path: string, most: number): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, most));
    const count = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.subarray(0, count).toString('utf8');
    return size > most ? text.slice(text.indexOf('\n') + 1) : text;
  } catch {
    return '';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** What a user names to be read whole, a data set or the events of runs: a pipe is one as well, of a shell's `<(...)`. */
export const MOST_GIVEN_BYTES = 2 ** 29;

export function readGiven(path: string, most: number = MOST_GIVEN_BYTES): Decoded<Buffer> {
  try {
    return statSync(path).isFIFO() ? readPipe(path, most) : readBytes(path, most);
  } catch (error) {
    return { complaint: error instanceof Error ? error.message : String(error) };
  }
}

function readPipe(path: string, most: number): Decoded<Buffer> {
  const descriptor = openSync(path, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let left = most; left >= 0; ) {
      const chunk = Buffer.allocUnsafe(PIPE_BYTES);
      const count = readSync(descriptor, chunk);
      if (count === 0) return { ok: Buffer.concat(chunks) };
      chunks.push(chunk.subarray(0, count));
      left -= count;
    }
    return { complaint: `it has more than ${most.toLocaleString('en')} bytes, which are read at most` };
  } finally {
    closeSync(descriptor);
  }
}

const PIPE_BYTES = 2 ** 16;

/** A byte order mark before it is passed over. */
export function readText(path: string, most?: number): Decoded<string> {
  const bytes = readBytes(path, most);
  return 'complaint' in bytes ? bytes : { ok: withoutMark(bytes.ok.toString('utf8')) };
}

export function readJson(
  path: string,
  { dialect = 'strict', most }: { readonly dialect?: 'strict' | 'python'; readonly most?: number } = {},
): Decoded<unknown> {
  const text = readText(path, most);
  if ('complaint' in text) return text;
  return dialect === 'python' ? parsePython(text.ok) : parseStrict(text.ok);
}
