// Bytes of event files and of W&B's logs, put together field by field.
import { crc32 } from 'node:zlib';
import { maskedCrc32c } from '../../../src/monitor/read/tensorboard/crc32c.ts';

export const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
export const text = (content: string): Uint8Array => new Uint8Array(Buffer.from(content));

export function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Uint8Array.from([...bytes, Number(left)]);
}

/** A field of varint type. */
export const number = (field: number, value: number | bigint): Uint8Array =>
  joined(varint(field << 3), varint(value));

/** A field of bytes. */
export const field = (id: number, content: Uint8Array | string): Uint8Array => {
  const bytes = typeof content === 'string' ? text(content) : content;
  return joined(varint((id << 3) | 2), varint(bytes.length), bytes);
};

export function double(id: number, value: number): Uint8Array {
  return joined(varint((id << 3) | 1), new Uint8Array(Float64Array.of(value).buffer));
}

export function float(id: number, value: number): Uint8Array {
  return joined(varint((id << 3) | 5), new Uint8Array(Float32Array.of(value).buffer));
}

/** Summary.Value with a simple_value. */
export const simple = (tag: string, value: number): Uint8Array => joined(field(1, tag), float(2, value));

/** Summary.Value with a tensor. */
export const tensor = (tag: string, content: Uint8Array): Uint8Array =>
  joined(field(1, tag), field(8, content));

/** An Event with these values in its summary. */
export const event = (step: number, ...values: readonly Uint8Array[]): Uint8Array =>
  joined(
    double(1, 1000 + step),
    number(2, step),
    field(5, joined(...values.map((value) => field(1, value)))),
  );

/** A TFRecord of these bytes. */
export function record(data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length + 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length, true);
  view.setUint32(8, maskedCrc32c(view, 0, 8), true);
  bytes.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc32c(view, 12, 12 + data.length), true);
  return bytes;
}

/** An event file as writers begin it. */
export const eventFile = (...events: readonly Uint8Array[]): Uint8Array =>
  joined(record(joined(double(1, 1), field(3, 'brain.Event:2'))), ...events.map(record));

/** A file of W&B: records in blocks of 32 KiB. */
export function wandbFile(...records: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0x00])];
  let at = 7;
  const put = (part: Uint8Array): void => {
    parts.push(part);
    at += part.length;
  };
  for (const whole of records) {
    let from = 0;
    do {
      if (32_768 - (at % 32_768) < 7) put(new Uint8Array(32_768 - (at % 32_768)));
      const size = Math.min(whole.length - from, 32_768 - (at % 32_768) - 7);
      const [first, last] = [from === 0, from + size === whole.length];
      const kind = first ? (last ? 1 : 2) : last ? 4 : 3;
      const typed = joined(Uint8Array.of(kind), whole.subarray(from, from + size));
      const head = new DataView(new ArrayBuffer(6));
      head.setUint32(0, crc32(typed), true);
      head.setUint16(4, size, true);
      put(joined(new Uint8Array(head.buffer), typed));
      from += size;
    } while (from < whole.length);
  }
  return joined(...parts);
}
