// How a quantity grows with another: the exponent of a power law through measured points, in two ways that err differently.

/** A size, and what it took. */
export type Point = readonly [number, number];

/** Least squares on a log-log scale. */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.map(([size, taken]) => [Math.log(size), Math.log(taken)] as const);
  const [x, y] = [mean(logs.map(([log]) => log)), mean(logs.map(([, log]) => log))];
  const together = sum(logs.map(([a, b]) => (a - x) * (b - y)));
  return together / sum(logs.map(([a]) => (a - x) ** 2));
}

/** The exponents between any two sizes of one round, of all rounds: their median is not moved by a few bad points. */
export function medianOfPairs(rounds: readonly (readonly Point[])[]): number {
  return median(
    rounds.flatMap((points) =>
      points.flatMap((first, at) =>
        points.slice(at + 1).map((second) => Math.log(second[1] / first[1]) / Math.log(second[0] / first[0])),
      ),
    ),
  );
}

/** Of each size the median of the rounds. */
export function mediansOf(rounds: readonly (readonly Point[])[]): Point[] {
  const [sizes = []] = rounds;
  return sizes.map(([size], at) => [size, median(rounds.map((points) => points[at]?.[1] ?? Number.NaN))]);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
