// Scalars and texts out of a TensorProto, which is how TensorFlow 2 writes summaries. Fields and types as in
// tensorflow/core/framework/tensor.proto and types.proto.
import { BYTES, type Cursor, eachField, FIXED32, FIXED64, signedVarint } from '../wire.ts';

// TensorProto
const DTYPE = 1;
const SHAPE = 2;
const CONTENT = 4;
const FLOAT_VAL = 5;
const DOUBLE_VAL = 6;
const STRING_VAL = 8;
const HALF_VAL = 13;
/** Fields that hold varints: int_val, int64_val, bool_val, uint32_val, uint64_val. */
const VARINT_VALS: ReadonlySet<number> = new Set([7, 10, 11, 16, 17]);

/** By the number of the dtype: how one element stands in `tensor_content`. */
const ELEMENTS: Readonly<Record<number, (view: DataView, at: number) => number>> = {
  1: (view, at) => view.getFloat32(at, true),
  2: (view, at) => view.getFloat64(at, true),
  3: (view, at) => view.getInt32(at, true),
  4: (view, at) => view.getUint8(at),
  5: (view, at) => view.getInt16(at, true),
  6: (view, at) => view.getInt8(at),
  9: (view, at) => Number(view.getBigInt64(at, true)),
  10: (view, at) => view.getUint8(at),
  14: (view, at) => bfloat16(view.getUint16(at, true)),
  17: (view, at) => view.getUint16(at, true),
  19: (view, at) => float16(view.getUint16(at, true)),
  22: (view, at) => view.getUint32(at, true),
  23: (view, at) => Number(view.getBigUint64(at, true)),
};
const SIZES: Readonly<Record<number, number>> = {
  1: 4,
  2: 8,
  3: 4,
  4: 1,
  5: 2,
  6: 1,
  9: 8,
  10: 1,
  14: 2,
  17: 2,
  19: 2,
  22: 4,
  23: 8,
};
const BFLOAT16 = 14;

/** The number in a tensor of one element, bytes[on.at, end); undefined for any other. */
export function scalarOf(on: Cursor, end: number): number | undefined {
  let dtype = 0;
  let elements = 1;
  let value: number | undefined;
  let content: readonly [from: number, to: number] | undefined;
  const whole = eachField(on, end, (field, type, from, to) => {
    on.at = from;
    if (field === DTYPE) dtype = signedVarint(on, to);
    else if (field === SHAPE) elements = elementsOf(on, to);
    else if (field === CONTENT) content = [from, to];
    else if (from < to) value = listed(on, field, type, from, to, dtype) ?? value;
  });
  if (!whole || elements !== 1) return undefined;
  const element = ELEMENTS[dtype];
  if (element === undefined) return undefined;
  // Of what proto3 leaves out, the value is zero; an empty tensor_content is no value.
  if (content !== undefined && content[0] < content[1])
    return content[1] - content[0] === SIZES[dtype] ? element(on.view, content[0]) : undefined;
  return value;
}

/** The first string in a tensor of strings. */
export function textOf(on: Cursor, end: number): string | undefined {
  let dtype = 0;
  let text: string | undefined;
  const whole = eachField(on, end, (field, type, from, to) => {
    on.at = from;
    if (field === DTYPE) dtype = signedVarint(on, to);
    else if (field === STRING_VAL && type === BYTES && text === undefined)
      text = utf8.decode(on.bytes.subarray(from, to));
  });
  return whole && dtype === STRING ? text : undefined;
}

const STRING = 7;
const utf8 = new TextDecoder();

/** The first of a repeated field, packed or not. Packed and plain values of fixed size begin alike. */
function listed(
  on: Cursor,
  field: number,
  type: number,
  from: number,
  to: number,
  dtype: number,
): number | undefined {
  const room = to - from;
  if (field === FLOAT_VAL && (type === BYTES || type === FIXED32) && room >= 4)
    return on.view.getFloat32(from, true);
  if (field === DOUBLE_VAL && (type === BYTES || type === FIXED64) && room >= 8)
    return on.view.getFloat64(from, true);
  if (field !== HALF_VAL && !VARINT_VALS.has(field)) return undefined;
  on.at = from;
  const number = signedVarint(on, to);
  if (on.at > to) return undefined;
  if (field !== HALF_VAL) return number;
  return dtype === BFLOAT16 ? bfloat16(number) : float16(number);
}

/** Of a TensorShapeProto: the product of its dimensions; NaN where it is not known. */
function elementsOf(on: Cursor, end: number): number {
  let product = 1;
  const whole = eachField(on, end, (field, type, from, to) => {
    if (field === 3) product = Number.NaN; // unknown_rank
    if (field !== 2 || type !== BYTES) return;
    let size = 0;
    on.at = from;
    eachField(on, to, (inner, _type, at, until) => {
      on.at = at;
      if (inner === 1) size = signedVarint(on, until);
    });
    product *= size;
  });
  return whole ? product : Number.NaN;
}

/** IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction. */
function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

/** The upper half of a float32. */
function bfloat16(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, bits & 0xffff);
  return view.getFloat32(0);
}
