// The axes of a plot: round ticks, few, on a linear or a logarithmic scale, and where a value stands between them.

export type Scale = 'linear' | 'log';

export function extent(values: readonly number[], scale: Scale = 'linear'): readonly [number, number] {
  if (values.length === 0) return scale === 'log' ? [1, 10] : [0, 1];
  // Not Math.min(...values): a run log has more points than a call has arguments.
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low < high || scale === 'log') return [low, high];
  const room = Math.abs(low) / 2 || 1;
  return [low - room, low + room];
}

/** Round numbers that enclose the extent, few; powers of ten on a logarithmic axis. */
export function ticksOf([low, high]: readonly [number, number], scale: Scale, most: number): number[] {
  if (scale === 'log') return powersOf(low, high, most);
  const rough = (high - low) / most;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * ([1, 2, 5, 10].find((each) => each * magnitude >= rough) ?? 10);
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)];
  // Not finite where the extent is wider than numbers are.
  if (!Number.isFinite(step) || !(last - first < 3 * most)) return [low, high];
  return Array.from({ length: last - first + 1 }, (_, each) =>
    Number(((first + each) * step).toPrecision(12)),
  );
}

function powersOf(low: number, high: number, most: number): number[] {
  const first = Math.min(MOST_POWER - 1, Math.max(LEAST_POWER, Math.floor(Math.log10(low))));
  const last = Math.min(MOST_POWER, Math.max(first + 1, Math.ceil(Math.log10(high))));
  const step = Math.ceil((last - first) / most);
  const count = Math.ceil((last - first) / step);
  return Array.from({ length: count + 1 }, (_, each) =>
    Number(`1e${Math.min(MOST_POWER, first + each * step)}`),
  );
}

/** The powers of ten that numbers hold. */
const LEAST_POWER = -323;
const MOST_POWER = 308;

export function within([low, high]: readonly [number, number]): (value: number) => boolean {
  return (value) => value >= low && value <= high;
}

/** Where a value stands on an axis, as a share of its length. */
export function axis(
  [low, high]: readonly [number, number],
  scale: Scale,
  ticks: readonly number[],
): { readonly ticks: readonly number[]; readonly share: (value: number) => number } {
  const on = (value: number): number => (scale === 'log' ? Math.log10(value) : value);
  // Halves, because the whole may be more than a number holds.
  const [from, to] = [on(low) / 2, on(high) / 2];
  return { ticks, share: (value) => (on(value) / 2 - from) / (to - from) };
}
