// Protocol buffers on the wire, as far as logs need them: varints, and fields passed over by their length.
// https://protobuf.dev/programming-guides/encoding/

/** A place in bytes that a message is read at. Behind its end: the message is not what it should be. */
export interface Cursor {
  bytes: Uint8Array;
  view: DataView;
  at: number;
}

export function cursor(): Cursor {
  return { bytes: EMPTY, view: new DataView(EMPTY.buffer), at: 0 };
}

/** Puts it at the start of a message in `bytes`, with no new object where the bytes are those of before. */
export function place(on: Cursor, bytes: Uint8Array, at: number): void {
  if (on.bytes !== bytes) {
    on.bytes = bytes;
    on.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  on.at = at;
}

/** Unsigned; above 2^53 with the precision of a double. Past the end it leaves the cursor behind `end`. */
export function varint(on: Cursor, end: number): number {
  const { bytes } = on;
  let at = on.at;
  const first = bytes[at++] as number;
  if (at <= end && first < 0x80) {
    on.at = at;
    return first;
  }
  let value = first & 0x7f;
  let scale = 0x80;
  while (at < end) {
    const next = bytes[at++] as number;
    value += (next & 0x7f) * scale;
    if (next < 0x80) {
      on.at = at;
      return value;
    }
    scale *= 0x80;
  }
  on.at = end + 1;
  return 0;
}

/** int64: two's complement in ten bytes where it is negative, each below -2^53 with the precision of a double. */
export function signedVarint(on: Cursor, end: number): number {
  const { bytes } = on;
  const from = on.at;
  const value = varint(on, end);
  if (on.at > end || on.at - from < LONGEST_VARINT) return value;
  // Exact where it is small: all bits are turned, and what is left is -1 - value.
  let turned = 0;
  let scale = 1;
  for (let at = from; at < from + LONGEST_VARINT - 1; at++) {
    turned += (~(bytes[at] as number) & 0x7f) * scale;
    scale *= 0x80;
  }
  return -1 - turned;
}

/** Past a field's value; behind `end` for what is no field. */
export function skipField(on: Cursor, key: number, end: number): void {
  switch (key & 7) {
    case VARINT:
      varint(on, end);
      return;
    case FIXED64:
      on.at += 8;
      return;
    case BYTES: {
      const length = varint(on, end);
      on.at += length;
      return;
    }
    case FIXED32:
      on.at += 4;
      return;
    default:
      on.at = end + 1;
  }
}

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;
const LONGEST_VARINT = 10;
const EMPTY = new Uint8Array(0);

/**
 * Calls with each field of the message bytes[on.at, end): its number, its wire type, and where its value stands (for
 * `BYTES` without their length). False: it is no message. For what is rare; a reader of points does it by hand.
 */
export function eachField(
  on: Cursor,
  end: number,
  visit: (field: number, type: number, from: number, to: number) => void,
): boolean {
  while (on.at < end) {
    const key = varint(on, end);
    const type = key & 7;
    let from = on.at;
    if (type === BYTES) {
      const length = varint(on, end);
      from = on.at;
      on.at += length;
    } else skipField(on, key, end);
    const to = on.at;
    if (to > end) return false;
    visit(Math.floor(key / 8), type, from, to);
    on.at = to;
  }
  return on.at === end;
}
