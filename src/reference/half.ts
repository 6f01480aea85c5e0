// The values of half-precision numbers, by their bits.

export type HalfType = 'bfloat16' | 'float16';

/** (65,536,): the value of each pattern of 16 bits. Made once a type. */
export function halfValues(dtype: HalfType): Float64Array {
  const known = tables.get(dtype);
  if (known !== undefined) return known;
  const made = Float64Array.from({ length: PATTERNS }, (_, bits) =>
    dtype === 'bfloat16' ? ofBrain(bits) : ofHalf(bits),
  );
  tables.set(dtype, made);
  return made;
}

// --- helpers ---

const PATTERNS = 2 ** 16;
const tables = new Map<HalfType, Float64Array>();
const scratch = new DataView(new ArrayBuffer(4));

/** bfloat16 is the upper half of a float32. */
function ofBrain(bits: number): number {
  scratch.setUint16(0, bits);
  return scratch.getFloat32(0);
}

/** IEEE 754 binary16: a sign bit, 5 of exponent, 10 of fraction. */
function ofHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
