// What is usual for a series: the middle and the spread of its last values, told by ranks, so that single outliers do
// not move them.

export interface Rolling {
  /** Values inside of the window. */
  readonly count: number;
  add(value: number): void;
  /** The value below which `share`, 0 to 1, of the window lies; NaN while it is empty. */
  quantile(share: number): number;
  median(): number;
  /**
   * A robust stand-in for the standard deviation: the larger of 1.4826 times the median absolute deviation and the
   * distance from the median to the 90th (and, with `below`, to the 10th) percentile, which heavy tails make wide.
   */
  spread(below?: boolean): number;
}

/** 1 / Phi^-1(3/4): makes the median absolute deviation of a normal distribution its standard deviation. */
const NORMAL = 1.4826;

/** Over the last `window` values. Memory and work at a value are O(window). */
export function rolling(window: number): Rolling {
  const order: number[] = [];
  const ranked: number[] = [];
  const quantile = (share: number): number =>
    ranked.length === 0
      ? Number.NaN
      : (ranked[Math.min(ranked.length - 1, Math.floor(share * ranked.length))] ?? Number.NaN);
  const median = () => quantile(0.5);
  return {
    get count() {
      return order.length;
    },
    add(value) {
      if (!Number.isFinite(value)) return;
      order.push(value);
      ranked.splice(placeOf(ranked, value), 0, value);
      const oldest = order.length > window ? order.shift() : undefined;
      if (oldest !== undefined) ranked.splice(placeOf(ranked, oldest), 1);
    },
    quantile,
    median,
    spread(below = false) {
      const middle = median();
      const away = ranked.map((value) => Math.abs(value - middle)).sort((a, b) => a - b);
      const deviation = away[Math.floor(away.length / 2)] ?? Number.NaN;
      const tail = below ? Math.max(quantile(0.9) - middle, middle - quantile(0.1)) : quantile(0.9) - middle;
      return Math.max(NORMAL * deviation, tail);
    },
  };
}

/** The first index whose value is not below it. */
function placeOf(ranked: readonly number[], value: number): number {
  let low = 0;
  let high = ranked.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranked[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
