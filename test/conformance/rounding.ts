// Numbers as short formats keep them.

/** To the nearest number of eight significant bits: bfloat16, but for its range. */
export const b16 = (x: number): number => {
  if (x === 0 || !Number.isFinite(x)) return x;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(x))) - 7);
  return Math.round(x / unit) * unit;
};
