// The safetensors file format: eight bytes of header length, a JSON header of name to dtype, shape and byte range, and
// the values, little-endian. Bytes in, parameters out, and back; nothing here touches the disk.
import { isJsonObject } from '../outside/decoded.ts';
import { parseStrict } from '../outside/json.ts';
import { countOf } from '../outside/shape.ts';
import { onOneLine, told } from '../outside/text.ts';
import { halfValues, type Parameter } from '../reference/index.ts';

/** Reads all tensors of one file; `problem` says what of it is not as the format says. */
export function readSafetensors(
  bytes: Uint8Array,
): ReadonlyMap<string, Parameter> | { readonly problem: string } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < LENGTH_BYTES) return { problem: `${bytes.length} bytes are too few for a header` };
  const length = Number(view.getBigUint64(0, true));
  const from = LENGTH_BYTES + length;
  if (length > MOST_HEADER)
    return { problem: `a header of ${length} bytes, ${MOST_HEADER} are read at most` };
  if (from > bytes.length) return { problem: `a header of ${length} bytes in a file of ${bytes.length}` };
  const parsed = parseStrict(new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, from)));
  if ('complaint' in parsed) return { problem: `the header is not JSON: ${parsed.complaint}` };
  const header = parsed.ok;
  if (!isJsonObject(header)) return { problem: 'the header is not an object' };
  const values = new DataView(view.buffer, view.byteOffset + from, bytes.length - from);
  const tensors = new Map<string, Parameter>();
  const ranges: Range[] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const read = tensorOf(entry, values);
    if ('problem' in read) return { problem: `${onOneLine(name, MOST_NAME)}: ${read.problem}` };
    tensors.set(name, read.tensor);
    ranges.push({ name, from: read.from, to: read.to });
  }
  const problem = problemOfRanges(ranges, values.byteLength);
  return problem === undefined ? tensors : { problem };
}

/** Writes tensors as float32, which is what a trainer loads; values are rounded to it. */
export function writeSafetensors(tensors: ReadonlyMap<string, Parameter>): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let size = 0;
  for (const [name, { shape, data }] of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [size, size + FLOAT32_BYTES * data.length] };
    size += FLOAT32_BYTES * data.length;
  }
  const json = JSON.stringify(header);
  // Values begin at a multiple of eight, so that they can be mapped into memory as they are.
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / LENGTH_BYTES) * LENGTH_BYTES));
  const bytes = new Uint8Array(LENGTH_BYTES + text.length + size);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, LENGTH_BYTES);
  let at = LENGTH_BYTES + text.length;
  for (const { data } of tensors.values())
    for (const value of data) {
      view.setFloat32(at, value, true);
      at += FLOAT32_BYTES;
    }
  return bytes;
}

// --- helpers ---

const LENGTH_BYTES = 8;
const FLOAT32_BYTES = 4;

/** The format allows 100 MB; the largest models of today need less than one for a file. */
const MOST_HEADER = 2 ** 24;
/** More axes than any parameter has. */
const MOST_DIMENSIONS = 8;

/** Of the name of a tensor. */
const MOST_NAME = 80;

/** Where the values of one tensor lie. */
interface Range {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

interface Format {
  readonly bytes: number;
  readonly read: (view: DataView, at: number) => number;
}

const FORMATS: Readonly<Record<string, Format>> = {
  F64: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { bytes: 2, read: (view, at) => halfValues('float16')[view.getUint16(at, true)] as number },
  BF16: { bytes: 2, read: (view, at) => halfValues('bfloat16')[view.getUint16(at, true)] as number },
};

interface Read {
  readonly tensor: Parameter;
  readonly from: number;
  readonly to: number;
}

function tensorOf(entry: unknown, view: DataView): Read | { readonly problem: string } {
  if (!isJsonObject(entry)) return { problem: 'its entry is not an object' };
  const { dtype, shape, data_offsets: offsets } = entry;
  const format = typeof dtype === 'string' && Object.hasOwn(FORMATS, dtype) ? FORMATS[dtype] : undefined;
  if (format === undefined)
    return { problem: `dtype ${told(dtype)}, expected ${Object.keys(FORMATS).join(', ')}` };
  if (!Array.isArray(shape) || !Array.isArray(offsets))
    return { problem: 'shape or data_offsets are missing' };
  const [from, to]: unknown[] = offsets;
  if (!isOffset(from) || !isOffset(to) || offsets.length !== 2 || from > to || to > view.byteLength)
    return {
      problem: `data_offsets ${told(offsets)} are no range of the ${view.byteLength} bytes of values`,
    };
  const counted = countOf(shape, { dimensions: MOST_DIMENSIONS, bytesOfOne: format.bytes, bytes: to - from });
  if ('complaint' in counted)
    return {
      problem: `shape ${told(shape)} does not fit bytes ${from} to ${to}: it ${counted.complaint}`,
    };
  const data = new Float64Array(counted.ok);
  for (let i = 0; i < data.length; i++) data[i] = format.read(view, from + i * format.bytes);
  return { tensor: { shape, data }, from, to };
}

/** Each byte belongs to one tensor, as the format says: what overlaps or is left over is another file than was written. */
function problemOfRanges(ranges: readonly Range[], bytes: number): string | undefined {
  let end = 0;
  let before: string | undefined;
  for (const { name, from, to } of ranges.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    if (from < end)
      return `${onOneLine(name, MOST_NAME)} begins at byte ${from}, inside of ${onOneLine(before ?? 'another', MOST_NAME)}`;
    if (from > end) return `bytes ${end} to ${from} belong to no tensor`;
    end = to;
    before = name;
  }
  return end < bytes ? `${bytes - end} bytes after the last tensor belong to none` : undefined;
}

const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
