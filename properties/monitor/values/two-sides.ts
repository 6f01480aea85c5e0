// The two answers of a pair, under two names.
import type { MonitorRule, Series, Watch } from '../../../src/index.ts';
import { digitsOf } from '../digits.ts';
import { read, streakOf } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

const SIDES = /chosen|rejected/i;
/** Significant digits that two answers do not share by chance. */
const DIGITS = 4;

interface Pair {
  step: number;
  first?: { readonly series: Series; readonly value: number };
  readonly same: ReturnType<typeof streakOf>;
  told: boolean;
}

export const sidesDiffer: MonitorRule = {
  id: 'monitor/chosen-is-not-rejected',
  title: 'Chosen and rejected answers do not have the same logged values',
  stage: 'monitor',
  level: 'should',
  why: 'Two answers never have one log-probability to the last digit, batch after batch. Where they do, one half of the batch is read for both, the data set has the same answer on both sides, or one number is logged under two names.',
  catches: [],
  advice:
    'Look at where the batch is split into its halves, and compare `input_ids` of the first chosen and the first rejected row.',
  roles: [],
  settings: { points: inARow(5, 'Two answers may be the same in one batch.') },
  watch: (world) => {
    const pairs = new Map<string, Pair>();
    const pairOf = new Map<Series, Pair | undefined>();
    let judged = 0;
    const find = (series: Series): Pair | undefined => {
      if (!pairOf.has(series)) {
        const key = SIDES.test(series.name) ? series.name.toLowerCase().replace(SIDES, '*') : undefined;
        const known = key === undefined ? undefined : pairs.get(key);
        const pair = known ?? { step: Number.NaN, same: streakOf(numberOf(world, 'points')), told: false };
        if (key !== undefined) pairs.set(key, pair);
        pairOf.set(series, key === undefined ? undefined : pair);
      }
      return pairOf.get(series);
    };
    return {
      point(series, step, value) {
        const pair = find(series);
        if (pair === undefined || pair.told || !Number.isFinite(value)) return undefined;
        const { first } = pair;
        if (pair.step !== step || first === undefined || first.series === series) {
          pair.step = step;
          pair.first = { series, value };
          return undefined;
        }
        judged++;
        if (!pair.same.next(first.value === value && digitsOf(value) >= DIGITS, step)) return undefined;
        pair.told = true;
        return {
          kind: 'the same',
          sentence: `${first.series.name} at step ${step} is ${read(value)}, and so is ${series.name}: they are the same to the last digit from step ${pair.same.from} on.`,
          series,
          step: pair.same.from,
          value,
        };
      },
      judged: () => judged,
      why: () => 'nothing is logged of both chosen and rejected answers at one step',
    } satisfies Watch;
  },
};
