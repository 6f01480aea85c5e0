// Tensors as {"dtype", "shape", "data"}: base64 of the little-endian, row-major buffer. For trainers whose hello
// says tensors: "base64"; answers may use this form at any time.
import { endianness } from 'node:os';
import { countOf } from '../outside/shape.ts';
import { type Decoded, isJsonObject, shown } from './result.ts';

export const TENSOR_DTYPES = ['float32', 'float64', 'int64', 'int32'] as const;
export type TensorDType = (typeof TENSOR_DTYPES)[number];

export interface Tensor {
  readonly dtype: TensorDType;
  readonly shape: readonly number[];
  readonly data: string;
}

/** Below this many elements a list is as fast as base64 and can be read by eye; above, base64 wins up to tenfold. */
export const BASE64_LEAST_ELEMENTS = 512;
/** A cube is the deepest thing in the protocol. */
const MAX_DIMENSIONS = 3;

type Nested = readonly number[] | readonly Nested[];

/** Elements of a rectangular nested list, read off its first rows. */
export function elementsOf(value: Nested): number {
  let count = 1;
  let level: number | Nested | undefined = value;
  while (typeof level === 'object') {
    count *= level.length;
    level = level[0];
  }
  return count;
}

/** Rectangular nested lists as a tensor. float32 rounds to nearest, as the trainer's own conversion would. */
export function encodeTensor(value: Nested, dtype: TensorDType): Tensor {
  const shape: number[] = [];
  for (let level: number | Nested | undefined = value; typeof level === 'object'; level = level[0]) {
    shape.push(level.length);
  }
  const numbers = MAKE[dtype](elementsOf(value));
  put(value, numbers, 0);
  const bytes = Buffer.from(numbers.buffer);
  if (endianness() === 'BE') BYTES[dtype] === 4 ? bytes.swap32() : bytes.swap64();
  return { dtype, shape, data: bytes.toString('base64') };
}

/** Row by row into the buffer, which is quicker than a flat list in between; where the next one goes. */
function put(value: Nested, numbers: Numbers, from: number): number {
  if (typeof value[0] === 'object')
    return (value as readonly Nested[]).reduce((at, row) => put(row, numbers, at), from);
  const row = value as readonly number[];
  if (numbers instanceof BigInt64Array) numbers.set(row.map(BigInt), from);
  else numbers.set(row, from);
  return from + row.length;
}

type Numbers = Float32Array | Float64Array | BigInt64Array | Int32Array;

const MAKE: Readonly<Record<TensorDType, (count: number) => Numbers>> = {
  float32: (count) => new Float32Array(count),
  float64: (count) => new Float64Array(count),
  int64: (count) => new BigInt64Array(count),
  int32: (count) => new Int32Array(count),
};

/** A tensor as nested lists of numbers. Integers beyond 2**53 are refused, they would lose digits. */
export function decodeTensor(value: unknown): Decoded<Nested> {
  if (!isJsonObject(value)) return { complaint: `is ${shown(value)}, expected a tensor` };
  const { dtype, shape, data } = value;
  if (!isDType(dtype)) {
    const half = dtype === 'bfloat16' || dtype === 'float16';
    const hint = half ? ' (half precision travels as float32)' : '';
    return { complaint: `has dtype ${shown(dtype)}, expected ${TENSOR_DTYPES.join(', ')}${hint}` };
  }
  if (!isShape(shape)) {
    return { complaint: `has shape ${shown(shape)}, expected a list of 1 to ${MAX_DIMENSIONS} lengths` };
  }
  if (typeof data !== 'string') return { complaint: `has data ${shown(data)}, expected base64 text` };
  const bytes = Buffer.from(data, 'base64');
  const counted = countOf(shape, {
    dimensions: MAX_DIMENSIONS,
    bytesOfOne: BYTES[dtype],
    bytes: bytes.length,
  });
  if ('complaint' in counted)
    return { complaint: `shape [${shape.join(', ')}] of ${dtype} ${counted.complaint}` };
  const count = counted.ok;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flat = Array<number>(count);
  const read = READ[dtype];
  for (let i = 0; i < count; i += 1) flat[i] = read(view, i);
  const unsafe = dtype === 'int64' ? flat.findIndex((x) => !Number.isSafeInteger(x)) : -1;
  if (unsafe >= 0) return { complaint: `element ${unsafe} is beyond 2**53` };
  return { ok: nest(flat, shape) };
}

const BYTES: Readonly<Record<TensorDType, number>> = { float32: 4, float64: 8, int64: 8, int32: 4 };

const READ: Readonly<Record<TensorDType, (view: DataView, i: number) => number>> = {
  float32: (view, i) => view.getFloat32(4 * i, true),
  float64: (view, i) => view.getFloat64(8 * i, true),
  int64: (view, i) => Number(view.getBigInt64(8 * i, true)),
  int32: (view, i) => view.getInt32(4 * i, true),
};

function isDType(value: unknown): value is TensorDType {
  return TENSOR_DTYPES.some((dtype) => dtype === value);
}

function isShape(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= MAX_DIMENSIONS &&
    value.every((n) => Number.isSafeInteger(n) && n >= 0)
  );
}

function nest(flat: number[], shape: readonly number[]): Nested {
  if (shape.length <= 1) return flat;
  const [rows = 0, ...rest] = shape;
  const size = rest.reduce((product, length) => product * length, 1);
  return Array.from({ length: rows }, (_, i) => nest(flat.slice(i * size, (i + 1) * size), rest));
}
