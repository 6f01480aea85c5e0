// The safetensors file format: eight bytes of header length, a JSON header of name to dtype, shape and byte range, and
// the values, little-endian. Bytes in, parameters out, and back; nothing here touches the disk.
import { halfValues, type Parameter } from '../reference/index.ts';

/** Reads all tensors of one file; `problem` says what of it is not as the format says. */
export function readSafetensors(
  bytes: Uint8Array,
): ReadonlyMap<string, Parameter> | { readonly problem: string } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < LENGTH_BYTES) return { problem: `${bytes.length} bytes are too few for a header` };
  const length = Number(view.getBigUint64(0, true));
  const from = LENGTH_BYTES + length;
  if (from > bytes.length) return { problem: `a header of ${length} bytes in a file of ${bytes.length}` };
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, from)));
  } catch {
    return { problem: 'the header is not JSON' };
  }
  if (typeof header !== 'object' || header === null) return { problem: 'the header is not an object' };
  const tensors = new Map<string, Parameter>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const read = tensorOf(
      entry as Partial<Entry>,
      new DataView(view.buffer, view.byteOffset + from, bytes.length - from),
    );
    if ('problem' in read) return { problem: `${name}: ${read.problem}` };
    tensors.set(name, read);
  }
  return tensors;
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

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
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

function tensorOf(entry: Partial<Entry>, view: DataView): Parameter | { readonly problem: string } {
  const format = FORMATS[entry.dtype ?? ''];
  if (format === undefined)
    return { problem: `dtype ${String(entry.dtype)}, expected ${Object.keys(FORMATS).join(', ')}` };
  const { shape, data_offsets: offsets } = entry;
  if (!Array.isArray(shape) || !Array.isArray(offsets))
    return { problem: 'shape or data_offsets are missing' };
  const [from, to] = [Number(offsets[0]), Number(offsets[1])];
  const count = shape.reduce((product: number, size: number) => product * size, 1);
  if (to - from !== count * format.bytes || from < 0 || to > view.byteLength)
    return { problem: `shape [${shape.join(', ')}] does not fit bytes ${from} to ${to}` };
  const data = new Float64Array(count);
  for (let i = 0; i < count; i++) data[i] = format.read(view, from + i * format.bytes);
  return { shape, data };
}
