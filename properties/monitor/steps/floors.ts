// Decays that end above 0. A rate with a floor f is f + (peak - f) * c, or the larger of f and peak * c, where c is the
// declared curve. Each logged rate leaves a range of floors; a floor is there while the ranges have one in common.

interface Range {
  readonly low: number;
  readonly high: number;
}

export interface Floors {
  /** False once no single floor explains the rates so far. */
  fits(rate: Range, curve: Range, peak: number): boolean;
}

/** Of the peak: usual floors are a tenth of it, and higher ones look like a decay over more steps. */
const HIGHEST = 0.3;
/** Of the curve's way down, before which a floor makes no difference that could be told from rounding. */
const BEGUN = 0.02;

/** `declared`: the only right floor. Without it any floor up to HIGHEST is right; after a `straight` decay only 0, as a line to a floor is a line to 0 over more steps. */
export function floorsOf(declared: number | undefined, straight: boolean): Floors {
  let blended: Range | undefined;
  let clipped: Range | undefined;
  return {
    fits(rate, curve, peak) {
      const any =
        declared === undefined
          ? { low: 0, high: straight ? 0 : HIGHEST * peak }
          : { low: declared, high: declared };
      blended = common(blended ?? any, blendedFrom(rate, curve, peak));
      clipped = common(clipped ?? any, clippedFrom(rate, curve));
      return blended.low <= blended.high || clipped.low <= clipped.high;
    },
  };
}

const ALL: Range = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
const NONE: Range = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };

const common = (one: Range, other: Range): Range => ({
  low: Math.max(one.low, other.low),
  high: Math.min(one.high, other.high),
});

/** f = (rate - peak c) / (1 - c), least where the rate is low and the curve high. */
function blendedFrom(rate: Range, curve: Range, peak: number): Range {
  const from = (value: number, share: number): number => (value - peak * share) / (1 - share);
  const [low, high] = [curve.low / peak, curve.high / peak];
  if (1 - low < BEGUN) return rate.high >= curve.low && rate.low <= curve.high ? ALL : NONE;
  return {
    low: high >= 1 - BEGUN ? ALL.low : from(rate.low, high),
    high: from(rate.high, low),
  };
}

function clippedFrom(rate: Range, curve: Range): Range {
  if (rate.high < curve.low) return NONE;
  return { low: rate.low > curve.high ? rate.low : ALL.low, high: rate.high };
}
