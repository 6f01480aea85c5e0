// Losses of which a run has several: one that is switched on and never computed stays at the 0 that it was initialised
// with, or is never logged, while the others train.
import type { MonitorRule, RuleWorld, Series, Violation, Watch } from '../../../src/index.ts';
import { at } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';
import { LOSSES, ofSamePart, wordsOf } from './loss-parts.ts';

/** The policy gradient of a group is 0 in value as often as not, and not in its gradient: only never is told of it. */
const POLICY_STEPS = 10;

const idleLoss: MonitorRule = {
  id: 'monitor/idle-loss',
  title: 'A part of the loss is not always exactly 0 while its samples are counted',
  stage: 'monitor',
  level: 'must',
  why: 'A branch of the training loop is skipped, and the 0 that its loss was initialised with is logged as if it had been computed.',
  catches: ['ZL-01', 'ZL-05'],
  advice:
    'Raise an error if an enabled branch is skipped, and pass batches by name: otherwise one triple is read as another, and loses the part with the samples.',
  roles: [...LOSSES, 'samples'],
  settings: {
    points: inARow(
      3,
      `${POLICY_STEPS} for a policy gradient, from the first step on: a group's advantages add up to 0, so its loss may be 0 although its gradient is not.`,
    ),
  },
  watch: (world) => watchParts(world),
};

/** A loss that came down to this may be rounded to 0. */
const LEARNT = 1e-2;

/** Parts are matched by their words: `num_sft_samples` is of `llm_sft_loss`. A total needs no samples. */
function watchParts(world: RuleWorld): Watch {
  const needed = numberOf(world, 'points');
  interface Part {
    zeros: number;
    first: number;
    step: number;
    /** Its 0 of `step` waits for the count of that step, which may be logged behind it. */
    waits: boolean;
    /** Smallest size of a value that was not 0; infinity: there was none. */
    smallest: number;
    done: boolean;
  }
  interface Count {
    readonly count: number;
    readonly step: number;
  }
  const parts = new Map<Series, Part>();
  const counts = new Map<Series, Count>();
  let judged = 0;

  const counterOf = (series: Series): readonly [Series, Count] | undefined =>
    [...counts].find(([counted, { count }]) => count > 0 && ofSamePart(counted, series));

  /** What its 0 means, with what is known of its samples by now. */
  function settle(series: Series, part: Part): Violation | undefined {
    part.waits = false;
    const counter = counterOf(series);
    if (counter === undefined && !isTotal(series)) return undefined;
    judged++;
    part.zeros++;
    const several = [...parts.keys()].some(({ role }) => role === 'policy_loss');
    const mayBeZero = series.role === 'policy_loss' || (several && counter === undefined);
    // What was computed before may come to 0: a policy gradient at any time, another loss once it is learnt.
    if (Number.isFinite(part.smallest) && (mayBeZero || part.smallest < LEARNT)) return undefined;
    if (part.zeros < (mayBeZero ? Math.max(needed, POLICY_STEPS) : needed)) return undefined;
    part.done = true;
    const beside = counter === undefined ? '' : ` while ${counter[0].name} is ${counter[1].count}`;
    return {
      kind: 'always 0',
      sentence: `${series.name} is exactly 0 at all of its ${part.zeros} logged steps since step ${part.first}${beside}: it was not computed.`,
      series,
      step: part.first,
      value: 0,
    };
  }

  function counted(series: Series, step: number, count: number): Violation | undefined {
    counts.set(series, { count, step });
    for (const [each, part] of parts) {
      if (!part.waits || part.step !== step || !ofSamePart(series, each)) continue;
      const said = settle(each, part);
      if (said !== undefined) return said;
    }
    return undefined;
  }

  return {
    point(series, step, value) {
      if (series.role === 'samples') return counted(series, step, value);
      if (series.part === '') return undefined;
      const part = parts.get(series) ?? {
        zeros: 0,
        first: Number.NaN,
        step: Number.NaN,
        waits: false,
        smallest: Number.POSITIVE_INFINITY,
        done: false,
      };
      parts.set(series, part);
      if (part.done || part.step === step) return undefined;
      // Samples that are counted less often than losses are logged: the last count holds.
      const late = part.waits ? settle(series, part) : undefined;
      part.step = step;
      if (value !== 0) {
        if (Number.isFinite(value)) part.smallest = Math.min(part.smallest, Math.abs(value));
        part.zeros = 0;
        part.first = Number.NaN;
        if (counterOf(series) !== undefined || isTotal(series)) judged++;
        return late;
      }
      if (late !== undefined) return late;
      if (Number.isNaN(part.first)) part.first = step;
      part.waits = true;
      const own = [...counts].some(([counter, each]) => each.step === step && ofSamePart(counter, series));
      return own || isTotal(series) ? settle(series, part) : undefined;
    },
    end() {
      return [...parts].flatMap(([series, part]) => (part.waits ? (settle(series, part) ?? []) : []));
    },
    judged: () => judged,
    why: () => 'no part of a loss is logged beside a count of its samples',
  };
}

const isTotal = (series: Series): boolean => wordsOf(series).includes('total');

const lossStays: MonitorRule = {
  id: 'monitor/loss-stays',
  title: 'A part of the loss that was logged at every step does not stop while the others go on',
  stage: 'monitor',
  level: 'may',
  why: 'A branch that stops running leaves no trace but a series that ends.',
  catches: ['ZL-01'],
  advice:
    'Look at what the branch depends on: a buffer that ran empty, a schedule, an exception that is swallowed.',
  roles: LOSSES,
  settings: {
    points: inARow(
      50,
      'Points of the other losses without one of this loss: alternating phases are shorter.',
    ),
    before: { default: 20, what: 'Steps at which it must have been logged together with the others.' },
  },
  watch: (world) => watchStays(world),
};

/** Whatever is logged now and then comes back within so many times the longest it has been away. */
const LONGEST_AWAY = 10;

function watchStays(world: RuleWorld): Watch {
  const missing = numberOf(world, 'points');
  const before = numberOf(world, 'before');
  interface Part {
    /** Steps at which another loss was logged as well: a phase that ends is no loss that stops. */
    together: number;
    last: number;
    /** Steps of others since. */
    away: number;
    longest: number;
    done: boolean;
  }
  const parts = new Map<Series, Part>();
  let step: number | undefined;
  let judged = 0;
  const close = (finished: number): Violation | undefined => {
    const here = [...parts.values()].filter(({ last }) => last === finished).length;
    for (const [series, part] of parts) {
      if (part.last === finished) {
        part.longest = Math.max(part.longest, part.away);
        part.away = 0;
        if (here > 1) part.together++;
        continue;
      }
      part.away++;
      const patience = Math.max(missing, LONGEST_AWAY * part.longest);
      if (part.done || part.together < before || part.away < patience) continue;
      part.done = true;
      return {
        kind: 'stopped',
        sentence: `${at(series, part.last)} is its last point; the other losses were logged at ${part.away} steps after that.`,
        series,
        step: part.last,
      };
    }
    return undefined;
  };
  return {
    point(series, at) {
      const next = step !== undefined && step !== at;
      if (next && parts.size > 1) judged++;
      const said = next && parts.size > 1 ? close(step as number) : undefined;
      step = at;
      const part = parts.get(series) ?? { together: 0, last: at, away: 0, longest: 0, done: false };
      parts.set(series, part);
      part.last = at;
      return said;
    },
    judged: () => judged,
    why: () =>
      parts.size > 1
        ? 'its losses are logged at one step'
        : 'the run logs one loss, so that none can stop alone',
  };
}

export const partRules: readonly MonitorRule[] = [idleLoss, lossStays];
