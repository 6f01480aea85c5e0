// The row loop in WebAssembly, two lanes of float64 at a time. Like loop.ts it stands on its own, without imports, because
// worker threads are given its text.
import type { FillPieces, Tables } from './loop.ts';
import type { LogitRows } from './rows.ts';

/** What scripts/simd/wat.ts writes and simd-bytes.ts holds. Addresses are bytes of its memory. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly most_f32: Most;
  readonly most_f64: Most;
  readonly weigh_f32: Weigh;
  readonly weigh_f64: Weigh;
  readonly weigh_both_f32: Weigh;
  readonly weigh_both_f64: Weigh;
}
type Most = (row: number, end: number) => number;
type Weigh = (
  row: number,
  end: number,
  other: number,
  most: number,
  otherMost: number,
  inverse: number,
  out: number,
) => number;

/** Compiled, and handed to threads as it is. */
export interface SimdModule {
  readonly [Symbol.toStringTag]: string;
}

/** What of WebAssembly is used; neither the language's types nor Node's have it. */
declare const WebAssembly:
  | {
      readonly Module: new (bytes: Uint8Array) => SimdModule;
      readonly Instance: new (module: SimdModule) => { readonly exports: Exports };
      validate(bytes: Uint8Array): boolean;
    }
  | undefined;

/** Undefined where Node has no WebAssembly, or none with SIMD: with `--jitless`, on processors before SSE 4.1. */
export function compiled(bytes: Uint8Array): SimdModule | undefined {
  if (typeof WebAssembly === 'undefined' || !WebAssembly.validate(bytes)) return undefined;
  return new WebAssembly.Module(bytes);
}

/** Rows of finite logits, and of tokens that are ruled out; every other row goes to `loop`, which knows what it means. */
export function simdLoop(
  loop: FillPieces,
  { bfloat16, float16, fractions }: Tables,
  module: SimdModule,
): FillPieces {
  // Of its memory: the fractions, four sums, and a row of the policy and of the reference.
  const SUMS = fractions.byteLength;
  const ROWS = SUMS + 32;
  const ALIGNED = 16;
  const PAGE = 65_536;
  if (typeof WebAssembly === 'undefined') return loop;
  const { exports } = new WebAssembly.Instance(module);
  new Float64Array(exports.memory.buffer).set(fractions);

  function memoryOf(bytes: number): ArrayBuffer {
    const { memory } = exports;
    const lacking = bytes - memory.buffer.byteLength;
    if (lacking > 0) memory.grow(Math.ceil(lacking / PAGE));
    return memory.buffer;
  }

  /** Halves are exact in float32. Padded, the last lanes add nothing. */
  function load(
    { dtype, data }: LogitRows,
    row: number,
    vocab: number,
    into: Float32Array | Float64Array,
  ): void {
    const at = row * vocab;
    const values = dtype === 'bfloat16' ? bfloat16 : dtype === 'float16' ? float16 : undefined;
    if (values === undefined) into.set(data.subarray(at, at + vocab));
    else for (let v = 0; v < vocab; v++) into[v] = values[data[at + v] as number] as number;
    into.fill(Number.NEGATIVE_INFINITY, vocab);
  }

  return (input, pieces, from, to) => {
    const { policy, reference, targets, vocab, temperature } = input;
    const inverse = 1 / temperature;
    const double = policy.dtype === 'float64' || reference?.dtype === 'float64';
    const Row = double ? Float64Array : Float32Array;
    const most = double ? exports.most_f64 : exports.most_f32;
    const both = double ? exports.weigh_both_f64 : exports.weigh_both_f32;
    const alone = double ? exports.weigh_f64 : exports.weigh_f32;
    const size = ALIGNED * Math.ceil((vocab * Row.BYTES_PER_ELEMENT) / ALIGNED);
    const buffer = memoryOf(ROWS + 2 * size);
    const z = new Row(buffer, ROWS, size / Row.BYTES_PER_ELEMENT);
    const r = new Row(buffer, ROWS + size, size / Row.BYTES_PER_ELEMENT);
    const sums = new Float64Array(buffer, SUMS, 4);
    for (let row = from; row < to; row++) {
      load(policy, row, vocab, z);
      const level = most(ROWS, ROWS + size);
      if (reference !== undefined) load(reference, row, vocab, r);
      const other = reference === undefined ? level : most(ROWS + size, ROWS + 2 * size);
      const weigh = reference === undefined ? alone : both;
      if (
        !Number.isFinite(level) ||
        !Number.isFinite(other) ||
        weigh(ROWS, ROWS + size, ROWS + size, level, other, inverse, SUMS) !== 0
      ) {
        loop(input, pieces, row, row + 1);
        continue;
      }
      const [sum = 0, dot = 0, otherSum = 0, cross = 0] = sums;
      const target = targets[row] as number;
      pieces.sum[row] = sum;
      pieces.dot[row] = dot;
      pieces.target[row] = ((z[target] as number) - level) * inverse;
      // The policy stands in for a reference that is not there.
      pieces.referenceSum[row] = reference === undefined ? sum : otherSum;
      pieces.referenceTarget[row] =
        reference === undefined ? (pieces.target[row] as number) : ((r[target] as number) - other) * inverse;
      pieces.cross[row] = reference === undefined ? dot : cross;
    }
  };
}
