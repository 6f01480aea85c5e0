// Events of TensorBoard: wall time, step, and a summary of values. Fields as in tensorflow/core/util/event.proto and
// framework/summary.proto. What is no scalar and no text is passed over by its length.
import type { LogSink, Series } from '../../series.ts';
import { declareText } from '../json/declared.ts';
import { names } from '../names.ts';
import type { Complain, Reader } from '../reader.ts';
import { BYTES, cursor, place, signedVarint, skipField, varint } from '../wire.ts';
import { declareHparams } from './hparams.ts';
import { scalarOf, textOf } from './tensor-proto.ts';
import { tfRecordReader } from './tfrecord.ts';

// Event
const WALL_TIME = (1 << 3) | 1;
const STEP = 2 << 3;
const SUMMARY = (5 << 3) | BYTES;
// Summary and Summary.Value
const VALUE = (1 << 3) | BYTES;
const TAG = (1 << 3) | BYTES;
const SIMPLE_VALUE = (2 << 3) | 5;
const TENSOR = (8 << 3) | BYTES;
const METADATA = (9 << 3) | BYTES;

/** An event file of one run. */
export function eventReader(run: string, sink: LogSink, complain: Complain): Reader {
  const tags = names();
  /** By the number of the tag. */
  const series: Series[] = [];
  const on = cursor();

  function point(tagFrom: number, tagTo: number, step: number, value: number, time: number): void {
    const tag = tags.find(on.bytes, tagFrom, tagTo);
    let found = series[tag];
    if (found === undefined) {
      found = sink.series(run, tags.text(tag));
      series[tag] = found;
    }
    sink.point(found, step, value, time);
  }

  /** One value of a summary, bytes[on.at, end). */
  function readValue(end: number, step: number, time: number): void {
    let tagFrom = 0;
    let tagTo = -1;
    let simple = Number.NaN;
    let isSimple = false;
    let tensorFrom = -1;
    let tensorTo = -1;
    let metadataFrom = -1;
    let metadataTo = -1;
    while (on.at < end) {
      const key = varint(on, end);
      if (key === SIMPLE_VALUE) {
        if (on.at + 4 > end) break;
        simple = on.view.getFloat32(on.at, true);
        isSimple = true;
        on.at += 4;
      } else if (key === TAG || key === TENSOR || key === METADATA) {
        const length = varint(on, end);
        const from = on.at;
        on.at += length;
        if (key === TAG) {
          tagFrom = from;
          tagTo = on.at;
        } else if (key === TENSOR) {
          tensorFrom = from;
          tensorTo = on.at;
        } else {
          metadataFrom = from;
          metadataTo = on.at;
        }
      } else skipField(on, key, end);
    }
    if (on.at !== end || tagTo < 0) throw NO_EVENT;
    if (isSimple) point(tagFrom, tagTo, step, simple, time);
    else if (tensorFrom >= 0) readTensor(tagFrom, tagTo, tensorFrom, tensorTo, step, time);
    if (metadataFrom >= 0) readMetadata(tagFrom, tagTo, metadataFrom, metadataTo);
    on.at = end;
  }

  function readTensor(
    tagFrom: number,
    tagTo: number,
    from: number,
    to: number,
    step: number,
    time: number,
  ): void {
    on.at = from;
    const value = scalarOf(on, to);
    if (value !== undefined) {
      point(tagFrom, tagTo, step, value, time);
      return;
    }
    on.at = from;
    const text = textOf(on, to);
    if (text !== undefined) declareText(sink, run, utf8.decode(on.bytes.subarray(tagFrom, tagTo)), text);
  }

  /** Of the hparams plugin only: there the metadata are the content. */
  function readMetadata(tagFrom: number, tagTo: number, from: number, to: number): void {
    if (tagTo - tagFrom !== HPARAMS_TAG.length) return;
    if (utf8.decode(on.bytes.subarray(tagFrom, tagTo)) !== HPARAMS_TAG) return;
    on.at = from;
    declareHparams(sink, run, on, to);
  }

  function readSummary(end: number, step: number, time: number): void {
    while (on.at < end) {
      const key = varint(on, end);
      if (key !== VALUE) {
        skipField(on, key, end);
        continue;
      }
      const length = varint(on, end);
      const to = on.at + length;
      if (to > end) throw NO_EVENT;
      readValue(to, step, time);
    }
    if (on.at !== end) throw NO_EVENT;
  }

  function readEvent(bytes: Uint8Array, from: number, end: number): void {
    place(on, bytes, from);
    let time = Number.NaN;
    let step = 0;
    let summaryFrom = -1;
    let summaryTo = -1;
    while (on.at < end) {
      const key = varint(on, end);
      if (key === WALL_TIME) {
        if (on.at + 8 > end) throw NO_EVENT;
        time = on.view.getFloat64(on.at, true);
        on.at += 8;
      } else if (key === STEP) step = signedVarint(on, end);
      else if (key === SUMMARY) {
        const length = varint(on, end);
        summaryFrom = on.at;
        on.at += length;
        summaryTo = on.at;
      } else skipField(on, key, end);
    }
    if (on.at !== end) throw NO_EVENT;
    if (summaryFrom < 0) return;
    on.at = summaryFrom;
    readSummary(summaryTo, step, time);
  }

  return tfRecordReader((bytes, from, to, at) => {
    try {
      readEvent(bytes, from, to);
    } catch (error) {
      if (error !== NO_EVENT) throw error;
      complain(`At byte ${at} a record is whole, but it is no event of TensorBoard; it is left out.`);
    }
  }, complain);
}

/** Thrown within this file only, and caught where the record ends. */
const NO_EVENT = new Error('no event');
const HPARAMS_TAG = '_hparams_/session_start_info';
const utf8 = new TextDecoder();
