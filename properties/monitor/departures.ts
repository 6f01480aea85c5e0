// Values that leave what a series has been so far. What it has been is told by ranks over a window, so that heavy tails
// widen the band instead of breaking it; one odd value is nothing, it takes several. Two ways to leave: by very much for a
// few points (a spike), and by less for longer (a level that changes and stays). While values are outside they do not become
// usual, so that the level before stays what they are held against; those that come back were tails, and do.
//
// A series that only grows, however fast it does, is not outside: its newest values are in the window, and a departure is
// several times the largest of them from one logged point to the next.
import { type RuleWorld, rolling, type Series } from '../../src/index.ts';
import { from, read, type SeriesJudge, type Streak, streakOf } from './watches.ts';

/** Of the window, on either side, what may be odd values or the way to a new level. */
const TAILS = 0.1;

export interface Departure {
  /** Spreads (percentiles of the window) away from the median. */
  readonly times: number;
  /** Below this nothing is a departure. */
  readonly floor: number;
  /** So many points that are outside. */
  readonly points: number;
  /** At least so many medians. */
  readonly medians: number;
  /** At least so many times the largest of the window; of what `mostly` is outside, the largest but for one in ten. */
  readonly largest: number;
  /** Points before the first is judged: before that a percentile is a guess. */
  readonly warmUp: number;
  /** Outside of the same distance below the median as well. */
  readonly both?: boolean;
  /** The least spread, as a share of the median. */
  readonly leastSpread?: number;
  /** One point of four may be inside: a level that changed has noise, and takes a few points to change. */
  readonly mostly?: boolean;
}

export interface DepartureOptions {
  readonly window: number;
  /** The first that is there speaks. */
  readonly departures: readonly Departure[];
  /** Asked when it would speak, since what else a run logs may be known late. */
  readonly speaks?: (world: RuleWorld) => boolean;
}

/** For a series that never moved, and for values that no limit can exclude. */
const NO_BAND = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

interface Limits {
  readonly low: number;
  readonly high: number;
}

export function judgeDepartures(
  world: RuleWorld,
  series: Series,
  { window, departures, speaks }: DepartureOptions,
): SeriesJudge {
  const usual = rolling(window);
  const watched = departures.map((departure) => ({
    departure,
    streak: departure.mostly === true ? mostlyOf(departure.points) : streakOf(departure.points),
  }));
  const warmUp = Math.min(...departures.map((each) => each.warmUp));
  let held: number[] = [];

  /** What does not need the spread, which is what costs: nearly all values end here. */
  const surely = ({ floor, medians, largest, mostly }: Departure): number =>
    Math.max(
      floor,
      medians * Math.abs(usual.median()),
      largest * usual.quantile(mostly === true ? 1 - TAILS : 1),
    );
  const bandOf = (departure: Departure): Limits | undefined => {
    const { both, leastSpread, times, floor } = departure;
    const middle = usual.median();
    const spread = Math.max(usual.spread(both), (leastSpread ?? 0) * Math.abs(middle));
    if (usual.count < departure.warmUp || !(spread > 0)) return undefined;
    return {
      low: both === true ? Math.min(-floor, middle - times * spread) : Number.NEGATIVE_INFINITY,
      high: Math.max(surely(departure), middle + times * spread),
    };
  };
  /** Most values are told without their band. */
  const surelyInside = (departure: Departure, value: number): boolean =>
    (value <= usual.quantile(1) && value >= usual.quantile(0)) ||
    (departure.both !== true && value <= surely(departure));

  return {
    point(step, value) {
      if (!Number.isFinite(value)) return undefined;
      if (usual.count < warmUp) {
        usual.add(value);
        return undefined;
      }
      let broken: { readonly streak: Streak; readonly limits: Limits; readonly rises: boolean } | undefined;
      let outside = false;
      for (const { departure, streak } of watched) {
        const limits = surelyInside(departure, value) ? NO_BAND : (bandOf(departure) ?? NO_BAND);
        const out = value > limits.high || value < limits.low;
        const enough = streak.next(out, step);
        outside ||= streak.length > 0;
        if (enough && out) broken ??= { streak, limits, rises: value > limits.high };
      }
      if (broken !== undefined) held = [];
      else if (outside) held.push(value);
      else {
        for (const each of held) usual.add(each);
        held = [];
        usual.add(value);
      }
      const middle = usual.median();
      if (broken === undefined) return 'seen';
      const { streak, limits, rises } = broken;
      if (speaks?.(world) === false) return 'seen';
      return {
        kind: rises ? 'spike' : 'fall',
        sentence: `${from(series, streak.from, step)} is ${rises ? 'above' : 'below'} ${read(rises ? limits.high : limits.low)}, now ${read(value)}; the median of the steps before is ${read(middle)}.`,
        step: streak.from,
        value,
        ...(Number.isFinite(limits.low) ? { low: limits.low } : {}),
        ...(Number.isFinite(limits.high) ? { high: limits.high } : {}),
      };
    },
    band: () => departures.map((each) => bandOf(each)).find((band) => band !== undefined),
  };
}

/** As a streak, that one value of four that does not hold does not end; it begins with one that does. */
export function mostlyOf(needed: number): Streak {
  let [length, not] = [0, 0];
  let from = Number.NaN;
  return {
    get length() {
      return length;
    },
    get from() {
      return from;
    },
    next(holds, step) {
      if (length === 0) {
        if (!holds) return false;
        from = step;
      }
      length++;
      if (!holds) not++;
      // The second point of a streak may not be the one of four.
      if (4 * not > length) [length, not] = [0, 0];
      return length >= needed;
    },
  };
}
