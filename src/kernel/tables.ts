// What the loop looks up, made once a process and given to each thread; and the loop of this thread.
import { halfValues } from '../reference/index.ts';
import { type FillPieces, rowLoop, type Tables } from './loop.ts';

let made: Tables | undefined;
let loop: FillPieces | undefined;

export function tables(): Tables {
  made ??= {
    bfloat16: halfValues('bfloat16'),
    float16: halfValues('float16'),
    fractions: Float64Array.from({ length: FRACTIONS }, (_, j) => 2 ** (j / FRACTIONS)),
    powers: Float64Array.from({ length: POWERS }, (_, k) => 2 ** (k + 1 - POWERS)),
  };
  return made;
}

/** @see FillPieces */
export const fillPieces: FillPieces = (...asked) => {
  loop ??= rowLoop(tables());
  loop(...asked);
};

const FRACTIONS = 256;
/** From 1 down to half of the smallest number, which rounds to 0. */
const POWERS = 1077;
