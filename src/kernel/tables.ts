// What the loops look up, made once a process and given to each thread; and the loops of this thread.
import { halfValues } from '../reference/index.ts';
import { type FillPieces, rowLoop, type Tables } from './loop.ts';
import { compiled, type SimdModule, simdLoop } from './simd.ts';
import { SIMD_BYTES } from './simd-bytes.ts';

let made: Tables | undefined;
let assembled: { readonly module: SimdModule | undefined } | undefined;
let plain: FillPieces | undefined;
let fast: FillPieces | undefined;

export function tables(): Tables {
  made ??= {
    bfloat16: halfValues('bfloat16'),
    float16: halfValues('float16'),
    fractions: Float64Array.from({ length: FRACTIONS }, (_, j) => 2 ** (j / FRACTIONS)),
    powers: Float64Array.from({ length: POWERS }, (_, k) => 2 ** (k + 1 - POWERS)),
  };
  return made;
}

/** The loop in WebAssembly; undefined where Node cannot run it. */
export function simdModule(): SimdModule | undefined {
  assembled ??= { module: compiled(Buffer.from(SIMD_BYTES, 'base64')) };
  return assembled.module;
}

/** @see FillPieces */
export const plainPieces: FillPieces = (...asked) => {
  plain ??= rowLoop(tables());
  plain(...asked);
};

/** The same, faster where it can be. */
export const fillPieces: FillPieces = (...asked) => {
  if (fast === undefined) {
    const module = simdModule();
    fast = module === undefined ? plainPieces : simdLoop(plainPieces, tables(), module);
  }
  fast(...asked);
};

const FRACTIONS = 256;
/** From 1 down to half of the smallest number, which rounds to 0. */
const POWERS = 1077;
