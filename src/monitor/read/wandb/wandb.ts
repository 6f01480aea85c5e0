// The transaction log of Weights & Biases (`run-ID.wandb`), which it writes offline and online alike: messages `Record` of
// its wandb_internal.proto in the frames of leveldb-log.ts. Read here, since the library no longer offers a reader; it
// carries its schema, and a test compares the numbers below with it.
import type { LogSink } from '../../series.ts';
import { declareAll } from '../json/declared.ts';
import { objectReader, parseObject } from '../json/objects.ts';
import type { Complain, Reader } from '../reader.ts';
import { BYTES, type Cursor, cursor, eachField, FIXED64, place, signedVarint, VARINT } from '../wire.ts';
import { levelDbReader } from './leveldb-log.ts';

// Record
const HISTORY = 2;
const CONFIG = 5;
const RUN = 17;
// RunRecord
const RUN_CONFIG = 4;
// HistoryRecord and ConfigRecord
const ITEM = 1;
const STEP = 2;
// HistoryStep
const NUM = 1;
// HistoryItem and ConfigItem
const KEY = 1;
const NESTED_KEY = 2;
const BOOLEAN = 4;
const INTEGER = 5;
const NUMBER = 6;
const TEXT = 7;
const JSON_VALUE = 8;
const VALUE_JSON = 16;

interface Item {
  readonly name: string;
  readonly value: unknown;
}

export interface WandbOptions {
  /** As samples name it. */
  readonly path: string;
  readonly run: string;
}

export function wandbReader({ path, run }: WandbOptions, sink: LogSink, complain: Complain): Reader {
  const objects = objectReader(run, sink);
  const on = cursor();
  let rows = 0;

  function takeHistory(end: number): boolean {
    const object: Record<string, unknown> = Object.create(null);
    let step = rows;
    rows += 1;
    const whole = eachField(on, end, (field, type, from, to) => {
      on.at = from;
      if (field === ITEM && type === BYTES) {
        const item = itemOf(on, to);
        if (item !== undefined && !isMedia(item.value)) object[item.name] = item.value;
      } else if (field === STEP && type === BYTES)
        eachField(on, to, (inner, wire, at, until) => {
          on.at = at;
          if (inner === NUM && wire === VARINT) step = signedVarint(on, until);
        });
    });
    // A table or an image logged in parts: `completions/_type`, `completions/nrows`.
    const media = Object.keys(object).filter((name) => name.endsWith(MEDIA_TYPE));
    for (const name of media) {
      const folder = name.slice(0, -MEDIA_TYPE.length);
      for (const other of Object.keys(object)) if (other.startsWith(`${folder}/`)) delete object[other];
    }
    if (whole) objects.push(object, step, `${path} row ${rows}`);
    return whole;
  }

  function takeConfig(end: number): boolean {
    return eachField(on, end, (field, type, from, to) => {
      on.at = from;
      const item = field === ITEM && type === BYTES ? itemOf(on, to) : undefined;
      if (item !== undefined && item.name !== '_wandb') declareAll(sink, run, { [item.name]: item.value });
    });
  }

  function takeRun(end: number): boolean {
    return eachField(on, end, (field, type, from, to) => {
      on.at = from;
      if (field === RUN_CONFIG && type === BYTES) takeConfig(to);
    });
  }

  return levelDbReader(
    SIGNATURE.length,
    (bytes, at) => {
      place(on, bytes, 0);
      const whole = eachField(on, bytes.length, (field, type, from, to) => {
        if (type !== BYTES) return;
        on.at = from;
        const taken =
          field === HISTORY
            ? takeHistory(to)
            : field === CONFIG
              ? takeConfig(to)
              : field !== RUN || takeRun(to);
        if (!taken) complain(`At byte ${at} a record could not be read to its end.`);
      });
      if (!whole) complain(`At byte ${at} a record is whole, but it is none of W&B; it is left out.`);
    },
    complain,
  );
}

/** `:W&B`, a magic number and a version. */
export const SIGNATURE: readonly number[] = [0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0x00];

/** Of a HistoryItem or a ConfigItem, bytes[on.at, end). */
function itemOf(on: Cursor, end: number): Item | undefined {
  const names: string[] = [];
  let value: unknown;
  const whole = eachField(on, end, (field, type, from, to) => {
    const text = (): string => utf8.decode(on.bytes.subarray(from, to));
    if (type === BYTES) {
      if (field === KEY || field === NESTED_KEY) names.push(text());
      else if (field === VALUE_JSON || field === JSON_VALUE)
        value = parseObject(`{"value":${text()}}`)?.value;
      else if (field === TEXT) value = text();
    } else if (type === FIXED64 && field === NUMBER) value = on.view.getFloat64(from, true);
    else if (type === VARINT && (field === INTEGER || field === BOOLEAN)) {
      on.at = from;
      const number = signedVarint(on, to);
      value = field === BOOLEAN ? number !== 0 : unzigzag(number);
    }
  });
  // A message of both leaves the first empty.
  const name = names.filter((each) => each !== '').join('/');
  return whole && name !== '' && value !== undefined ? { name, value } : undefined;
}

/** sint64: 0, -1, 1, -2… as 0, 1, 2, 3… */
function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Tables, images and histograms are described by an object that names its type. */
function isMedia(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '_type' in value;
}

const MEDIA_TYPE = '/_type';
const utf8 = new TextDecoder();
