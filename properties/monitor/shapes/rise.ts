// A series that leaves the best level it had and does not come back, told while it happens.
//
// Level: the median of the last five values. Best: the lowest level so far. Noise: that of noise.ts, of single values among
// the last 64 before the rise; where several tell as much as one, it must last as many times longer. A rise is a level above
//     best + max(SHARE best, NOISES noise, FORGOT (start - best))
// for `PATIENCE` levels in a row. Six deviations of a single value, where the best of many levels lies about two below
// their middle, leave four for levels that must all be above: noise alone does not make one in 1e8 points. The share
// is for what those 64 do not show: slow drifts, an order of the data. The last term is for losses near 0: of what was learnt since the start, a part must be lost.
//
// Its form tells a model that is being destroyed from other data: data change between one step and the next, weights
// take steps. So a rise that took several points from a quarter to three quarters of its height is a climb; one that did
// not is a jump, of which only the height tells. See Wald (1947) on tests that are asked at every step: here the patience
// is fixed, and what is not said is looked at again ever more seldom.
import { noiseOver } from './noise.ts';
import { LEVEL_OF, type Recent, recent } from './rolling.ts';

export interface Rise {
  /** Step of the first value that left. */
  readonly from: number;
  /** The lowest single value before, and its step. */
  readonly best: number;
  readonly bestStep: number;
  /** The lowest level before. */
  readonly floor: number;
  /** The level of the first points. */
  readonly start: number;
  readonly level: number;
  /** The highest level of the rise. */
  readonly peak: number;
  /** What is above counts as risen. */
  readonly limit: number;
  readonly noise: number;
  /** Points that tell as much as one. */
  readonly alike: number;
  /** Points that it took from a quarter of its height to three quarters; infinite: it began before what is remembered. */
  readonly climb: number;
  /** Share of its height that the steepest part makes, over twice as many points as tell as much as one. */
  readonly steep: number;
  /** Points since the limit was passed. */
  readonly points: number;
}

export interface RiseTracker {
  readonly recent: Recent;
  /** NaN before there are as many points as a level needs. */
  readonly start: number;
  /** A rise, when it is time to look at it: after `PATIENCE` points above the limit, then ever more seldom. */
  add(step: number, value: number): Rise | undefined;
}

/** Values that are remembered. */
const KEPT = 64;
/** Levels in a row above the limit: more than the eight that one batch may make, logged for each of its micro-batches. */
const PATIENCE = 9;
const SHARE = 0.3;
const NOISES = 6;
/** Of what was learnt. */
const FORGOT = 0.15;
/** Points after which the noise is measured anew. */
const NOISE_EVERY = 16;
/** Looks become rarer by this share. */
const RARER = 1 / 8;
/** A rise that is not blamed for so long is what is usual now. */
const USUAL_AFTER = 64;

export function riseTracker(): RiseTracker {
  let seen = recent(KEPT);
  let start = Number.NaN;
  let floor = Number.POSITIVE_INFINITY;
  let best = { value: Number.POSITIVE_INFINITY, step: Number.NaN };
  let noise = { deviation: 0, alike: 1 };
  let noiseAt = 0;
  let rise:
    | { limit: number; from: number; peak: number; low: number; points: number; next: number }
    | undefined;
  let lastStep = Number.NEGATIVE_INFINITY;

  const forget = (): void => {
    seen = recent(KEPT);
    start = Number.NaN;
    floor = Number.POSITIVE_INFINITY;
    best = { value: Number.POSITIVE_INFINITY, step: Number.NaN };
    noiseAt = 0;
    rise = undefined;
  };
  /** Of values before what may be a rise. */
  const limitOf = (): number => {
    if (seen.count >= noiseAt) {
      noise = noiseOver(seen.values().slice(0, -3));
      noiseAt = seen.count + NOISE_EVERY;
    }
    return floor + Math.max(SHARE * floor, NOISES * noise.deviation, FORGOT * Math.max(0, start - floor));
  };

  function begin(step: number, level: number): void {
    // Cheap first: nearly all points end here.
    if (level <= (1 + SHARE) * floor) return;
    const limit = limitOf();
    if (level > limit)
      rise = {
        limit,
        from: step,
        peak: level,
        low: level,
        points: 0,
        next: PATIENCE * noise.alike,
      };
  }

  return {
    get recent() {
      return seen;
    },
    get start() {
      return start;
    },
    add(step, value) {
      // The run was resumed: what it had behind this step is not what it has now.
      if (step < lastStep) forget();
      lastStep = step;
      seen.add(step, value);
      if (seen.count < LEVEL_OF) return keepBest(step, value);
      const level = seen.level();
      if (Number.isNaN(start)) start = level;
      if (rise === undefined) begin(step, level);
      if (rise === undefined) {
        floor = Math.min(floor, level);
        return keepBest(step, value);
      }
      if (level <= rise.limit) {
        rise = undefined;
        return keepBest(step, value);
      }
      rise.points++;
      rise.peak = Math.max(rise.peak, level);
      rise.low = Math.min(rise.low, level);
      if (rise.points < rise.next) return undefined;
      rise.next = rise.points + Math.max(1, Math.floor(rise.points * RARER));
      const found = describe(rise, level);
      if (rise.points > USUAL_AFTER) {
        floor = rise.low;
        rise = undefined;
      }
      return found;
    },
  };

  function keepBest(step: number, value: number): undefined {
    if (value < best.value) best = { value, step };
    return undefined;
  }

  function describe({ limit, from, peak, points }: NonNullable<typeof rise>, level: number): Rise {
    const most = Math.min(seen.count, KEPT) - 1;
    const quarter = floor + 0.25 * (level - floor);
    const threeQuarters = floor + 0.75 * (level - floor);
    // Backwards: from the end to the last value that had not left yet.
    let left = 0;
    while (left <= most && seen.near(left) > quarter) left++;
    let up = Math.min(left, most);
    while (up > 0 && seen.near(up) < threeQuarters) up--;
    const wide = 2 * noise.alike;
    let steepest = 0;
    for (let back = 0; back <= Math.min(left, most - wide); back++)
      steepest = Math.max(steepest, seen.near(back) - seen.near(back + wide));
    const began = left > most ? from : seen.step(Math.max(0, left - 1));
    return {
      from: began,
      best: best.value,
      bestStep: best.step,
      floor,
      start,
      level,
      peak,
      limit,
      noise: noise.deviation,
      alike: noise.alike,
      climb: left > most ? Number.POSITIVE_INFINITY : left - up,
      steep: steepest / (level - floor),
      points,
    };
  }
}
