// Statistics of a course that no single value can move: by ranks, each with its source.

/** The value below which `share`, 0 to 1, of the values lies; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const ranked = values.toSorted((a, b) => a - b);
  return ranked[Math.min(ranked.length - 1, Math.floor(share * ranked.length))] ?? Number.NaN;
}

/** The mean of the two in the middle where the number of values is even; NaN of none. */
export function median(values: readonly number[]): number {
  const ranked = values.toSorted((a, b) => a - b);
  const half = ranked.length >> 1;
  const upper = ranked[half] ?? Number.NaN;
  return ranked.length % 2 === 1 ? upper : ((ranked[half - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The noise of a series that moves slowly, as a standard deviation: 1.4826 median |x_i - x_{i-1}| / sqrt(2). A trend adds a
 * constant to the differences, one jump adds one difference, and neither moves their median. Smoothed logs have less noise
 * than the series behind them: what rests on it needs an effect of a size besides.
 */
export function noiseOf(values: readonly number[]): number {
  const steps = values.slice(1).map((value, at) => Math.abs(value - (values[at] ?? Number.NaN)));
  return (NORMAL * median(steps)) / Math.SQRT2;
}

/** 1 / Phi^-1(3/4): makes the median absolute deviation of a normal distribution its standard deviation. */
const NORMAL = 1.4826;

/**
 * Mann (1945), Kendall (1975): whether a series goes up or down, whatever its form. S counts pairs that rise less pairs that
 * fall; tau = S / (n (n - 1) / 2), -1 to 1; z = (|S| - 1) / sqrt(n (n - 1) (2n + 5) / 18) is standard normal where there is no
 * trend and nothing depends on what was before.
 */
export function mannKendall(values: readonly number[]): { readonly tau: number; readonly z: number } {
  const count = values.length;
  let sum = 0;
  for (let at = 1; at < count; at++)
    for (let before = 0; before < at; before++)
      sum += Math.sign((values[at] as number) - (values[before] as number));
  if (count < 2) return { tau: 0, z: 0 };
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  return {
    tau: sum / ((count * (count - 1)) / 2),
    z: (Math.sign(sum) * Math.max(0, Math.abs(sum) - 1)) / deviation,
  };
}

/**
 * Pettitt (1979): where a series changes its level, if it does. U_t is the sum of sign(x_i - x_j) over all i before t <= j;
 * the change is where |U_t| is largest, `p` = 2 exp(-6 U^2 / (n^3 + n^2)) bounds the chance of it without a change. Undefined of
 * fewer than two values.
 */
export function changePoint(
  values: readonly number[],
):
  | { /** Index of the first value behind the change. */ readonly at: number; readonly p: number }
  | undefined {
  const count = values.length;
  let [sum, most, at] = [0, 0, -1];
  for (let t = 1; t < count; t++) {
    // U_t from U_{t-1}: the value that crosses over, against all others.
    const crossing = values[t - 1] as number;
    for (const other of values) sum += Math.sign(crossing - other);
    if (Math.abs(sum) > most) [most, at] = [Math.abs(sum), t];
  }
  if (at < 0) return undefined;
  return { at, p: Math.min(1, 2 * Math.exp((-6 * most * most) / (count ** 3 + count ** 2))) };
}
