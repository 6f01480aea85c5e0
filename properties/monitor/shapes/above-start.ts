// A loss that is lastingly above what it began with: the plainest sign of all, and one that needs no best level between.
// From 36 points on, at every fifth: the median of the last 15 is above 1.15 times the first level (the median of five) and three
// standard errors of that level (1.2533 noise / sqrt(5)) besides, three times in a row.
import { median } from '../../../src/index.ts';
import { noiseOver } from './noise.ts';
import { LEVEL_OF, recent } from './rolling.ts';

export interface AboveStart {
  readonly start: number;
  readonly level: number;
  readonly limit: number;
}

const KEPT = 64;
const FROM = 36;
const EVERY = 5;
const LAST = 15;
const IN_A_ROW = 3;
const TIMES = 1.15;
const ERRORS = (3 * 1.2533) / Math.sqrt(LEVEL_OF);

export function aboveStart(): { add(step: number, value: number): AboveStart | undefined } {
  let seen = recent(KEPT);
  let start = Number.NaN;
  let times = 0;
  let next = FROM;
  let last = Number.NEGATIVE_INFINITY;
  return {
    add(step, value) {
      if (step < last) {
        seen = recent(KEPT);
        next = FROM;
      }
      last = step;
      seen.add(step, value);
      if (seen.count === LEVEL_OF) start = seen.level();
      if (seen.count < next) return undefined;
      next = seen.count + EVERY;
      if (!(seen.level() > TIMES * start)) {
        times = 0;
        return undefined;
      }
      const level = median(seen.values(LAST));
      const limit = TIMES * start + ERRORS * noiseOver(seen.values()).deviation;
      times = level > limit ? times + 1 : 0;
      if (times < IN_A_ROW) return undefined;
      // What was not blamed is looked at again ever more seldom: the whole course is dear.
      next = seen.count + Math.max(EVERY, seen.count >> 3);
      return { start, level, limit };
    },
  };
}
