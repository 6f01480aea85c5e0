// Where the rows of `view` come from: a file, a pipe, or the command line.
import { basename, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { eachParquetRow, isWhole, MAGIC } from '../../monitor/read/parquet.ts';
import type { Decoded } from '../../outside/decoded.ts';
import { MOST_GIVEN_BYTES, readGiven } from '../../outside/file.ts';
import { parseStrict } from '../../outside/json.ts';
import { type Entry, entriesOf, formatOf, isGzip } from '../../view/read.ts';
import { type Context, isProblem, type Problem } from '../context.ts';

export interface Source {
  /** For people. */
  readonly name: string;
  /** Hands over each row; what keeps the rest from being read. */
  readonly each: (look: (entry: Entry) => void) => Promise<Problem | undefined>;
}

/** What `view` was given as its rows. */
export interface Given {
  readonly conversation?: string;
  readonly ids?: readonly number[];
  readonly labels?: readonly number[];
}

export async function sourceOf(
  data: string | undefined,
  options: Given,
  context: Context,
): Promise<Source | Problem> {
  const { conversation, ids, labels } = options;
  const pasted = conversation !== undefined || ids !== undefined;
  if (pasted && data !== undefined)
    return { problem: `give either ${data} or a row with --conversation and --ids, not both` };
  if (labels !== undefined && ids === undefined)
    return { problem: '--labels are the labels of --ids, which are not given' };
  if (pasted) return pastedRow(conversation, ids, labels);
  if (data === undefined)
    return {
      problem:
        'name a file of JSON lines or a Parquet file, as in `lossproof view data.jsonl --tokenizer DIR`; `lossproof view --help` lists the shapes of rows',
    };
  return fileSource(data, context, { command: 'view' });
}

/** How a command reads a file of rows. */
export interface Reading {
  /** For examples in complaints. */
  readonly command: string;
  /** Of each line. */
  readonly parse?: (text: string) => Decoded<unknown>;
}

/** The rows of a file of JSON lines or Parquet, packed or not, or of standard input. */
export async function fileSource(
  data: string,
  context: Context,
  { command, parse = parseStrict }: Reading,
): Promise<Source | Problem> {
  const bytes = data === '-' ? await standardInput(command) : bytesOf(data, context, command);
  if (isProblem(bytes)) return bytes;
  const name = data === '-' ? 'standard input' : basename(data);
  if (isParquet(bytes)) return { name, each: (look) => eachOfParquet(bytes, name, look) };
  const text = isGzip(bytes) ? unpacked(bytes, name) : bytes;
  if (isProblem(text)) return text;
  const other = formatOf(text);
  if (other !== undefined) return { problem: `${data} is ${other}` };
  return { name, each: (look) => eachOf(entriesOf(text, parse))(look) };
}

// --- helpers ---

const eachOf =
  (entries: Iterable<Entry>): Source['each'] =>
  async (look) => {
    for (const entry of entries) look(entry);
    return undefined;
  };

const isParquet = (bytes: Uint8Array): boolean => MAGIC.every((code, at) => bytes[at] === code);

async function eachOfParquet(
  bytes: Uint8Array,
  name: string,
  look: (entry: Entry) => void,
): Promise<Problem | undefined> {
  const file = {
    byteLength: bytes.length,
    slice: (start: number, end?: number) => new Uint8Array(bytes.subarray(start, end)).buffer,
  };
  if (!isWhole(file)) return { problem: `${name} begins as a Parquet file and has no end: it was cut off` };
  const unread = await eachParquetRow(file, (value, number) => look({ number, value: withoutNulls(value) }));
  return unread === undefined ? undefined : { problem: `${name}: ${unread}` };
}

/** A table has every column in every row: a key that a row does not have is null there. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      inner === null || inner === undefined ? [] : [[key, withoutNulls(inner)]],
    ),
  );
}

function unpacked(bytes: Uint8Array, name: string): Uint8Array | Problem {
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_GIVEN_BYTES });
  } catch (error) {
    const why =
      error instanceof RangeError
        ? `unpacked it has more than ${MOST_GIVEN_BYTES.toLocaleString('en')} bytes, which are read at most`
        : error instanceof Error
          ? error.message
          : String(error);
    return { problem: `${name} cannot be unpacked: ${why}` };
  }
}

function pastedRow(
  conversation: string | undefined,
  ids: readonly number[] | undefined,
  labels: readonly number[] | undefined,
): Source | Problem {
  let value: unknown = {};
  if (conversation !== undefined) {
    const parsed = parseStrict(conversation);
    if ('complaint' in parsed)
      return {
        problem: `--conversation is not JSON (${parsed.complaint}); quote it for the shell with '...'`,
      };
    value = parsed.ok;
  }
  if (ids !== undefined) {
    const beside = Array.isArray(value) ? { messages: value } : (value as object);
    value = { ...beside, input_ids: ids, ...(labels === undefined ? {} : { labels }) };
  }
  return { name: 'the row given', each: eachOf([{ number: 1, value }]) };
}

/** Read as it comes: a pipe may not have been filled yet. */
async function standardInput(command: string): Promise<Uint8Array | Problem> {
  if (process.stdin.isTTY)
    return { problem: `nothing is piped in; \`cat data.jsonl | lossproof ${command} -\` does` };
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > MOST_GIVEN_BYTES)
      return {
        problem: `standard input has more than ${MOST_GIVEN_BYTES.toLocaleString('en')} bytes; look at a part of it, as in \`head -n 10000 data.jsonl | lossproof ${command} -\``,
      };
  }
  return Buffer.concat(chunks);
}

function bytesOf(data: string, context: Context, command: string): Uint8Array | Problem {
  const read = readGiven(resolve(context.cwd, data));
  if ('ok' in read) return read.ok;
  const { complaint } = read;
  if (/ENOENT/.test(complaint)) return { problem: `there is no file ${data}` };
  if (/is a folder/.test(complaint))
    return {
      problem: `${data} is a folder; a data set that save_to_disk wrote becomes JSON lines with load_from_disk("${data}").to_json("data.jsonl")`,
    };
  const part = /read at most/.test(complaint)
    ? `; look at a part of it, as in \`head -n 10000 ${data} | lossproof ${command} -\``
    : '';
  return { problem: `${data} cannot be read: ${complaint}${part}` };
}
