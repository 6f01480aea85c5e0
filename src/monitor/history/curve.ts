// A series as a plot shows it, kept while its points go by: the lowest and the highest of each stretch, in so many
// stretches however long the log is; and the points around a place that someone asked for, exactly. A resumed run logs
// steps again: what it logs replaces what was logged behind the step to which it went back.

export interface CurvePoint {
  readonly step: number;
  readonly value: number;
}

/** What was allowed at some of the steps, in the order in which they came. */
export interface Band {
  readonly steps: readonly number[];
  readonly lows: readonly number[];
  readonly highs: readonly number[];
}

/**
 * A whole series in at most 240 stretches, in the order of the log; of a resumed run, its newest branch. All but the last
 * hold equally many points, so that a stretch is a weight of one in any rank statistic.
 */
export interface Course {
  /** Of the first point of each stretch. */
  readonly steps: readonly number[];
  /** Mean of the finite values of each stretch. */
  readonly means: readonly number[];
  /** Finite values of all stretches together. */
  readonly points: number;
  /** Lowest and highest point of each stretch, in order: all points where a stretch has two. */
  readonly extremes: () => readonly CurvePoint[];
}

export interface Curve {
  /** True where a new stretch begins: often enough to ask what is allowed here. */
  add(step: number, value: number): boolean;
  /** The last points stay as they are, and so do the next ones. The first time only: the first violation is what is looked at. */
  keep(): void;
  /** In the order in which they came; those that are no finite numbers among them. */
  points(): readonly CurvePoint[];
  /** Its course up to here. */
  course(): Course;
  /** What a rule allowed at this point. */
  allow(rule: string, step: number, low: number, high: number): void;
  band(rule: string): Band | undefined;
}

/** Two points a stretch: about what a plot can show. Even, because stretches are merged in pairs. */
const MOST_STRETCHES = 240;
/** Points before and behind a violation that stay exact. */
const AROUND = 12;
/** Of those that are no finite numbers: the first tell when it began. */
const MOST_ODD = 40;
/** Of a band. Beyond, every other is dropped; it is asked for at each new stretch, which come more rarely then. */
const MOST_ALLOWED = 240;

export function makeCurve(): Curve {
  // Which point it was, its step and its value; of the lowest, and of the highest of each stretch.
  const lowAt = new Float64Array(MOST_STRETCHES);
  const lowStep = new Float64Array(MOST_STRETCHES);
  const low = new Float64Array(MOST_STRETCHES);
  const highAt = new Float64Array(MOST_STRETCHES);
  const highStep = new Float64Array(MOST_STRETCHES);
  const high = new Float64Array(MOST_STRETCHES);
  const first = new Float64Array(MOST_STRETCHES);
  const sum = new Float64Array(MOST_STRETCHES);
  const ringStep = new Float64Array(AROUND);
  const ringValue = new Float64Array(AROUND);
  const exact = new Map<number, CurvePoint>();
  const bands = new Map<string, { steps: number[]; lows: number[]; highs: number[] }>();
  let count = 0;
  let stretches = 0;
  let perStretch = 1;
  let inStretch = 0;
  let odd = 0;
  let exactFrom = -1;
  let exactUntil = -1;
  let latest = -1;
  /** Of the branch that is followed. */
  let furthest = Number.NEGATIVE_INFINITY;
  /** A point that went back: one alone is a late line, a second one behind it a resumed run. */
  let back: { readonly at: number; readonly step: number; readonly value: number } | undefined;

  const halve = (): void => {
    for (let to = 0; to < MOST_STRETCHES / 2; to++) {
      const [a, b] = [2 * to, 2 * to + 1];
      const lower = read(low, b) < read(low, a) ? b : a;
      const higher = read(high, b) > read(high, a) ? b : a;
      lowAt[to] = read(lowAt, lower);
      lowStep[to] = read(lowStep, lower);
      low[to] = read(low, lower);
      highAt[to] = read(highAt, higher);
      highStep[to] = read(highStep, higher);
      high[to] = read(high, higher);
      first[to] = read(first, a);
      sum[to] = read(sum, a) + read(sum, b);
    }
    stretches = MOST_STRETCHES / 2;
    perStretch *= 2;
  };

  const setLow = (to: number, at: number, step: number, value: number): void => {
    lowAt[to] = at;
    lowStep[to] = step;
    low[to] = value;
  };
  const setHigh = (to: number, at: number, step: number, value: number): void => {
    highAt[to] = at;
    highStep[to] = step;
    high[to] = value;
  };

  /** A stretch that began before `step` stays as it is: it is one of many, or a single point. */
  const rewind = (step: number): void => {
    let left = stretches;
    while (left > 0 && read(first, left - 1) >= step) left--;
    if (left < stretches) inStretch = 0;
    stretches = left;
    furthest = step;
    for (const [at, point] of exact)
      if (point.step >= step && at !== latest && (exactUntil < 0 || at < exactFrom || at > exactUntil))
        exact.delete(at);
  };

  /** True where it begins a stretch. */
  const put = (at: number, step: number, value: number): boolean => {
    if (step > furthest) furthest = step;
    const begins = inStretch === 0;
    if (begins) {
      if (stretches === MOST_STRETCHES) halve();
      setLow(stretches, at, step, value);
      setHigh(stretches, at, step, value);
      first[stretches] = step;
      sum[stretches] = value;
      stretches++;
    } else {
      sum[stretches - 1] = read(sum, stretches - 1) + value;
      if (value < read(low, stretches - 1)) setLow(stretches - 1, at, step, value);
      if (value > read(high, stretches - 1)) setHigh(stretches - 1, at, step, value);
    }
    inStretch = (inStretch + 1) % perStretch;
    return begins;
  };

  const settle = (step: number): void => {
    if (back === undefined) return;
    const { at, step: to, value } = back;
    back = undefined;
    if (step <= furthest) rewind(to);
    put(at, to, value);
  };

  /** Of each stretch, by which point it was. */
  const extremes = (): Map<number, CurvePoint> => {
    const all = new Map<number, CurvePoint>();
    for (let at = 0; at < stretches; at++) {
      all.set(read(lowAt, at), { step: read(lowStep, at), value: read(low, at) });
      all.set(read(highAt, at), { step: read(highStep, at), value: read(high, at) });
    }
    return all;
  };

  return {
    add(step, value) {
      const slot = count % AROUND;
      ringStep[slot] = step;
      ringValue[slot] = value;
      latest = count;
      if (count <= exactUntil) exact.set(count, { step, value });
      const at = count++;
      if (!Number.isFinite(value)) {
        if (odd < MOST_ODD) exact.set(at, { step, value });
        odd++;
        return false;
      }
      if (back !== undefined) settle(step);
      if (step < furthest) {
        back = { at, step, value };
        return false;
      }
      return put(at, step, value);
    },
    keep() {
      if (exactUntil >= 0) return;
      exactFrom = Math.max(0, latest - AROUND + 1);
      exactUntil = latest + AROUND;
      for (let at = exactFrom; at <= latest; at++)
        exact.set(at, { step: read(ringStep, at % AROUND), value: read(ringValue, at % AROUND) });
    },
    points() {
      const all = new Map<number, CurvePoint>([...exact, ...extremes()]);
      // The newest is what a live view is about.
      if (latest >= 0)
        all.set(latest, { step: read(ringStep, latest % AROUND), value: read(ringValue, latest % AROUND) });
      return inOrder(all);
    },
    course() {
      const inLast = inStretch === 0 ? perStretch : inStretch;
      const at = (stretch: number): number => (stretch === stretches - 1 ? inLast : perStretch);
      return {
        steps: [...first.subarray(0, stretches)],
        means: Array.from(sum.subarray(0, stretches), (all, stretch) => all / at(stretch)),
        points: stretches === 0 ? 0 : (stretches - 1) * perStretch + inLast,
        extremes: () => inOrder(extremes()),
      };
    },
    allow(rule, step, lowest, highest) {
      const band = bands.get(rule) ?? { steps: [], lows: [], highs: [] };
      bands.set(rule, band);
      band.steps.push(step);
      band.lows.push(lowest);
      band.highs.push(highest);
      if (band.steps.length < MOST_ALLOWED) return;
      const even = (_: number, at: number): boolean => at % 2 === 0;
      band.steps = band.steps.filter(even);
      band.lows = band.lows.filter(even);
      band.highs = band.highs.filter(even);
    },
    band: (rule) => bands.get(rule),
  };
}

const inOrder = (points: ReadonlyMap<number, CurvePoint>): readonly CurvePoint[] =>
  [...points].sort(([a], [b]) => a - b).map(([, point]) => point);

/** The index is in range, which the type of a typed array does not say. */
function read(values: Float64Array, at: number): number {
  return values[at] as number;
}
