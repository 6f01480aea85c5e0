// Noise of several kinds, none of which is anybody's fault.
import { type Change, gaussian } from './model.ts';

/** Rounded to 8 bits, after an error of the same size from the layers before. */
export const bf16: Change = (logits, { random }) =>
  logits.map((logit) => rounded(logit + 0.02 * gaussian(random)));

/** A few units in the last place. */
export const float32: Change = (logits, { random }) =>
  logits.map((logit) => Math.fround(logit + 1e-5 * gaussian(random)));

/** Of a mixture of experts: another expert now and then. */
export const flips: Change = (logits, { random }) => {
  const size = random() < 0.03 ? 0.3 : 0.01;
  return logits.map((logit) => logit + size * gaussian(random));
};

/** Of quantised keys and values: it grows along the row. */
export const growing: Change = (logits, { random, position }) =>
  logits.map((logit) => logit + 0.005 * Math.sqrt(position + 1) * gaussian(random));

export const NOISES = { bf16, float32, flips, growing };

const FLOATS = new Float32Array(1);
const BITS = new Uint32Array(FLOATS.buffer);

function rounded(value: number): number {
  FLOATS[0] = value;
  BITS[0] = ((BITS[0] ?? 0) + 0x8000) & 0xffff0000;
  return FLOATS[0];
}
