// The line that fits weights best: what of them is a multiple of something known, and what is the same for every token.

export interface Line {
  /** The part that is the same everywhere. */
  readonly intercept: number;
  /** By how much the number grows where `x` grows by 1. */
  readonly slope: number;
  /** The largest distance of a point from the line. */
  readonly residual: number;
  /** How far off the slope is, at most, where each point is off by at most 1. */
  readonly slopeError: number;
}

/** Least squares of y = intercept + slope x; undefined where all x are one, so that no slope can be told. */
export function lineThrough(xs: readonly number[], ys: readonly number[]): Line | undefined {
  const [x0, y0] = [mean(xs), mean(ys)];
  let [across, along, reach] = [0, 0, 0];
  xs.forEach((x, at) => {
    across += (x - x0) ** 2;
    along += (x - x0) * ((ys[at] ?? Number.NaN) - y0);
    reach += Math.abs(x - x0);
  });
  if (!(across > 0)) return undefined;
  const slope = along / across;
  const intercept = y0 - slope * x0;
  const residual = Math.max(...xs.map((x, at) => Math.abs((ys[at] ?? Number.NaN) - intercept - slope * x)));
  return { intercept, slope, residual, slopeError: reach / across };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
