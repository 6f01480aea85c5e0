// What is usual for a positive quantity that spans orders of magnitude, over all that was logged: counts in classes a
// quarter of a doubling wide, so that a point costs the same however long the log is.

export interface LogHistogram {
  readonly count: number;
  /** Numbers above 0; all else is passed over. */
  add(value: number): void;
  /** The value below which `share` of all lies, within a tenth. */
  quantile(share: number): number;
  /** A robust stand-in for the standard deviation of the logarithm: the larger distance from the median to the 16th and 84th percentile. */
  spread(): number;
}

const A_DOUBLING = 4;
/** Doubles go from 2^-1074 to 2^1024. */
const LEAST = -300;
const CLASSES = 600 * A_DOUBLING;

export function logHistogram(): LogHistogram {
  const counts = new Uint32Array(CLASSES);
  let count = 0;
  const classAt = (share: number): number => {
    let below = 0;
    const wanted = share * count;
    for (let at = 0; at < CLASSES; at++) {
      below += counts[at] as number;
      if (below > wanted) return at;
    }
    return CLASSES - 1;
  };
  const logAt = (share: number): number => (classAt(share) + 0.5) / A_DOUBLING + LEAST;
  return {
    get count() {
      return count;
    },
    add(value) {
      if (!(value > 0) || value === Number.POSITIVE_INFINITY) return;
      const at = Math.floor((Math.log2(value) - LEAST) * A_DOUBLING);
      const inRange = Math.min(CLASSES - 1, Math.max(0, at));
      counts[inRange] = (counts[inRange] as number) + 1;
      count++;
    },
    quantile: (share) => (count === 0 ? Number.NaN : 2 ** logAt(share)),
    spread() {
      const middle = logAt(0.5);
      return Math.LN2 * Math.max(logAt(0.84) - middle, middle - logAt(0.16));
    },
  };
}
