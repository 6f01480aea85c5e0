// What a file is: by its first bytes, and by its name only where those do not tell.

import { parseObject } from '../json/objects.ts';
import { MAGIC } from '../parquet.ts';
import { parseBar } from '../printed/bar.ts';
import { parsePairs } from '../printed/pairs.ts';
import { parsePythonDict } from '../printed/python-dict.ts';
import { HEADER, headerHolds } from '../tensorboard/tfrecord.ts';
import { SIGNATURE } from '../wandb/wandb.ts';

/** What a file was recognised as. */
export type LogKind =
  | 'TensorBoard'
  | 'trainer_state.json'
  | 'JSON lines'
  | 'printed lines'
  | 'JSON list'
  | 'CSV'
  | 'W&B'
  | 'Parquet';

export interface Detected {
  readonly kind: LogKind;
  /** Of a table. */
  readonly delimiter?: string;
}

/** Bytes of a file's beginning that are looked at: enough for a long header of a table. */
export const HEAD_BYTES = 65_536;

/**
 * @param head the first HEAD_BYTES of the file, unpacked
 * @param name without folders and without `.gz`
 * @returns undefined for what is no log, or has not begun
 */
export function detect(head: Uint8Array, name: string): Detected | undefined {
  if (begins(head, SIGNATURE)) return { kind: 'W&B' };
  if (begins(head, MAGIC)) return { kind: 'Parquet' };
  if (head.length >= HEADER && headerHolds(new DataView(head.buffer, head.byteOffset, head.byteLength), 0))
    return { kind: 'TensorBoard' };
  // Of a file that was just begun, or whose first record is damaged, only the name tells.
  if (name.includes('tfevents')) return { kind: 'TensorBoard' };
  if (head.length < SIGNATURE.length && name.endsWith('.wandb')) return { kind: 'W&B' };
  if (head.includes(0)) return undefined;
  return detectText(head, name.toLowerCase());
}

/** Endings of files that are looked into where a folder is searched. */
const ENDINGS = ['.json', '.jsonl', '.ndjson', '.csv', '.tsv', '.parquet', '.wandb', '.log', '.out', '.txt'];

/** Whether a file that lies in a searched folder is looked into; a file that the user names always is. */
export function isCandidate(name: string): boolean {
  const bare = name.replace(/\.gz$/i, '').toLowerCase();
  return (
    bare.includes('tfevents') ||
    LOG_DOCUMENTS.has(bare) ||
    (ENDINGS.some((ending) => bare.endsWith(ending)) && !NO_LOGS.has(bare))
  );
}

/** Names of documents that are logs. Any other may be a configuration, and is one only where it says so itself. */
export const LOG_DOCUMENTS: ReadonlySet<string> = new Set([
  'trainer_state.json',
  'log_history.json',
  'metrics.json',
]);
/** Lie beside models and runs, and are none. */
const NO_LOGS: ReadonlySet<string> = new Set([
  'merges.txt',
  'vocab.txt',
  'requirements.txt',
  'debug.log',
  'debug-internal.log',
  'debug-core.log',
]);

function begins(head: Uint8Array, signature: readonly number[]): boolean {
  return signature.every((code, at) => head[at] === code);
}

function detectText(head: Uint8Array, name: string): Detected | undefined {
  const text = new TextDecoder().decode(head);
  // A bar of progress is written over by what stands behind it.
  const lines = text.split('\n').map((line) => line.trim().replace(/^.*\r(?=\{)/s, ''));
  // The last may be cut off by what was read of the file.
  const whole = lines.length > 1 ? lines.slice(0, -1) : lines;
  const objects = whole
    .filter((line) => line.startsWith('{'))
    .map((line) => parseObject(line) ?? parsePythonDict(line))
    .filter((object) => object !== undefined);
  // Written again on one line it is one object that can be parsed.
  const [only] = objects;
  if (objects.length === 1 && only !== undefined && 'log_history' in only && Array.isArray(only.log_history))
    return { kind: 'trainer_state.json' };
  if (objects.length > 0) return { kind: 'JSON lines' };
  if (name === 'trainer_state.json' || /^\s*\{[\s\S]*"log_history"\s*:/.test(text))
    return { kind: 'trainer_state.json' };
  if (/^\s*\[\s*\{/.test(text) && name.endsWith('.json')) return { kind: 'JSON list' };
  if (/\.(jsonl|ndjson)$/.test(name)) return { kind: 'JSON lines' };
  const table = detectTable(whole, lines, name);
  return table ?? (whole.some(tellsMetrics) ? { kind: 'printed lines' } : undefined);
}

/** Bars of progress are written over each other. */
const tellsMetrics = (line: string): boolean =>
  line
    .split('\r')
    .some((each) => Object.keys(parseBar(each)?.metrics ?? {}).length > 0 || parsePairs(each) !== undefined);

function detectTable(whole: readonly string[], lines: readonly string[], name: string): Detected | undefined {
  const header = whole.find((line) => line !== '') ?? '';
  const [best = ',', most = 0] =
    DELIMITERS.map((each) => [each, header.split(each).length - 1] as const).sort(
      ([, left], [, right]) => right - left,
    )[0] ?? [];
  if (/\.(csv|tsv)$/.test(name))
    return { kind: 'CSV', delimiter: most > 0 ? best : name.endsWith('.tsv') ? '\t' : ',' };
  // Any text has commas: a table has names above, and as many numbers below.
  const below = lines[lines.indexOf(header) + 1];
  if (most === 0 || below === undefined || below.split(best).length - 1 !== most) return undefined;
  const isNumber = (cell: string): boolean => cell.trim() !== '' && Number.isFinite(Number(cell));
  const table = below.split(best).some(isNumber) && !header.split(best).some(isNumber);
  return table ? { kind: 'CSV', delimiter: best } : undefined;
}

const DELIMITERS = [',', '\t', ';'];
