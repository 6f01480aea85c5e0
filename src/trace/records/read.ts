// A trace file as records. The file may be cut off (the script was killed), damaged or hostile: nothing in it can throw,
// and what is not understood is said with its line.
import { parsePython } from '../../outside/json.ts';
import { isJsonObject } from '../../protocol/result.ts';
import { isKind, recordOf } from './fields.ts';
import { TRACE_VERSION } from './records.ts';
import type { ReadRecord } from './shapes.ts';

export interface ReadTrace {
  readonly records: readonly ReadRecord[];
  /** Sentences for the user, each with the file's name and the line. */
  readonly complaints: readonly string[];
  /** The last line is not whole: the process was killed while it wrote. */
  readonly torn: boolean;
}

/**
 * Records in the order of the file.
 * @param text the file as bytes, where it may be longer than a string can be
 * @param name of the file, for complaints
 */
export function readTrace(text: string | Uint8Array, name: string): ReadTrace {
  const records: ReadRecord[] = [];
  const complaints: string[] = [];
  let number = 0;
  let torn = false;
  for (const { line, whole } of linesOf(text)) {
    number += 1;
    if (line.trim() === '') continue;
    const place = `${name}, line ${number}`;
    const read = readLine(line);
    if ('complaint' in read) {
      // A line that is cut off is never JSON; one that is JSON was written to its end.
      if (!whole && read.noJson) torn = true;
      else complaints.push(`${place}: ${read.complaint}.`);
      continue;
    }
    const { record } = read;
    if (record.kind === 'process' && record.trace > TRACE_VERSION) {
      complaints.push(
        `${place}: The trace is of version ${record.trace}; this lossproof reads version ${TRACE_VERSION}. Use the lossproof that wrote it, or a newer one.`,
      );
      return { records: [], complaints, torn };
    }
    if (records.length === 0 && record.kind !== 'process') {
      complaints.push(
        `${place}: A trace begins with a "process" record, this one with "${record.kind}"; the file is not read.`,
      );
      return { records: [], complaints, torn };
    }
    records.push(record);
  }
  return { records, complaints: shortened(complaints, name), torn };
}

// --- helpers ---

/** A damaged file has one complaint a line; a few of them tell what there is to know. */
const MOST_COMPLAINTS = 10;

type Read = { readonly record: ReadRecord } | { readonly complaint: string; readonly noJson: boolean };

function readLine(line: string): Read {
  try {
    const parsed = parsePython(line);
    if ('complaint' in parsed) return { complaint: `It is not JSON: ${parsed.complaint}`, noJson: true };
    const value = parsed.ok;
    if (!isJsonObject(value)) return { complaint: 'It is no JSON object', noJson: false };
    const { kind, trace } = value;
    // A newer version may have other fields: its number is all that is looked at.
    if (kind === 'process' && Number.isSafeInteger(trace) && Number(trace) > TRACE_VERSION)
      return { record: { ...NEWER, trace: Number(trace) } };
    if (!isKind(kind))
      return {
        complaint: `It is a record of kind ${JSON.stringify(kind) ?? 'nothing'}, which this lossproof does not know; it is passed over`,
        noJson: false,
      };
    const record = recordOf(kind, value);
    return 'complaint' in record
      ? { complaint: `The ${kind} record is left out: ${record.complaint}`, noJson: false }
      : { record: record.ok };
  } catch (error) {
    // The engine's own limits: nested too deep, or too large for its memory.
    return {
      complaint: `It cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      noJson: true,
    };
  }
}

const NEWER: Extract<ReadRecord, { kind: 'process' }> = {
  kind: 'process',
  trace: TRACE_VERSION,
  pid: 0,
  rank: 0,
  world: 1,
  argv: [],
  python: '',
  started: '',
};

function shortened(complaints: readonly string[], name: string): readonly string[] {
  const more = complaints.length - MOST_COMPLAINTS;
  return more <= 0
    ? complaints
    : [...complaints.slice(0, MOST_COMPLAINTS), `${name}: ${more} more lines could not be read.`];
}

interface Line {
  readonly line: string;
  /** It ends with a newline. */
  readonly whole: boolean;
}

const NEWLINE = 0x0a;

/** Line by line, because a file of many steps is longer than the longest string. */
function* linesOf(text: string | Uint8Array): Generator<Line> {
  const indexOf = (from: number): number =>
    typeof text === 'string' ? text.indexOf('\n', from) : text.indexOf(NEWLINE, from);
  const part = (from: number, to: number): string =>
    typeof text === 'string' ? text.slice(from, to) : new TextDecoder().decode(text.subarray(from, to));
  for (let from = 0; from < text.length; ) {
    const end = indexOf(from);
    yield { line: part(from, end < 0 ? text.length : end), whole: end >= 0 };
    if (end < 0) return;
    from = end + 1;
  }
}
