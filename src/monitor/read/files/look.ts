// What a file's beginning says of it: its kind, whether it is packed, and whether it holds rollouts or metrics.
import { basename } from 'node:path';
import { sampleOf } from '../../samples/samples.ts';
import { meaningOf, parseObject } from '../json/objects.ts';
import { type Detected, detect, LOG_DOCUMENTS } from './detect.ts';
import type { Disk, Found } from './disk.ts';

export interface Look {
  readonly detected: Detected;
  /** gzip around it. */
  readonly packed: boolean;
  readonly samples: boolean;
}

/** Why a file is no log: `is empty`, to stand behind its name. */
export interface NoLog {
  readonly why: string;
}

export function look(found: Found, disk: Disk): Look | NoLog {
  const name = basename(found.real);
  let head = disk.head(found.real, false);
  if (head.length === 0) return { why: 'is empty.' };
  const packed = head[0] === 0x1f && head[1] === 0x8b;
  if (packed) head = disk.head(found.real, true);
  // What a program prints may begin with pages of settings: of a file that the user names, any line may be one of metrics.
  const printed: Detected | undefined =
    found.named && TEXTS.test(name) && !head.includes(0) ? { kind: 'printed lines' } : undefined;
  const detected = detect(head, name.replace(/\.gz$/i, '')) ?? printed;
  if (detected === undefined)
    return {
      why: 'is no log that can be read: no TensorBoard events, trainer_state.json, JSON lines, CSV, W&B or Parquet, and no lines of a step and its metrics.',
    };
  if (packed && detected.kind === 'Parquet')
    return { why: 'is packed Parquet; unpack it, since its end is read first.' };
  // Configurations, tokenizers and data are JSON as well.
  const bare = name.replace(/\.gz$/i, '').toLowerCase();
  if (
    !found.named &&
    bare.endsWith('.json') &&
    !LOG_DOCUMENTS.has(bare) &&
    detected.kind !== 'trainer_state.json'
  )
    return { why: 'is another document.' };
  const first = firstObject(head, detected);
  const samples = detected.kind === 'Parquet' || holdsSamples(first, found.path);
  // Any program may write its messages as JSON; of metrics, the lines count something.
  if (!found.named && !samples && TEXTS.test(name) && !tellsStep(first)) return { why: 'holds no steps.' };
  return { detected, packed, samples };
}

/** Names that any text may have. */
const TEXTS = /\.(log|out|err|txt)(\.gz)?$/i;

/** The text of the first object of lines or of a list, as far as it was read. */
function firstObject(head: Uint8Array, { kind }: Detected): string {
  if (kind !== 'JSON lines' && kind !== 'JSON list') return '';
  const text = new TextDecoder().decode(head);
  if (kind === 'JSON lines') return text.split('\n').find((line) => line.trim().startsWith('{')) ?? '';
  return /\{[\s\S]*?\}(?=\s*[,\]])/.exec(text)?.[0] ?? '';
}

function holdsSamples(first: string, path: string): boolean {
  const object = parseObject(first);
  if (object !== undefined) return sampleOf(object as Record<string, unknown>, path, '') !== undefined;
  // Longer than what was read of it: metrics have short lines and no text.
  return /"(?:prompt|completion|response|output|input)[^"]*"\s*:\s*["[]/.test(first);
}

function tellsStep(first: string): boolean {
  return Object.keys(parseObject(first) ?? {}).some((name) => typeof meaningOf(name) !== 'string');
}
