// A history with points in it, and rules of a few lines: what the tests of the history, the run and the reports are made of.
import type { RunEvent } from '../../src/check/events.ts';
import { type History, type HistoryOptions, openHistory } from '../../src/monitor/history/history.ts';
import type { MonitorRule, RuleWorld, Watch } from '../../src/monitor/rule.ts';
import { judgeHistory, type ReadingFacts } from '../../src/monitor/run.ts';
import type { SeriesRole } from '../../src/monitor/series.ts';

export interface RuleSketch extends Partial<Omit<MonitorRule, 'watch'>> {
  readonly watch?: (world: RuleWorld) => Watch;
}

/** Broken by a value above `most`, 10 by default. */
export function limit(role: SeriesRole, sketch: RuleSketch = {}): MonitorRule {
  return rule({
    id: `monitor/${role}-limit`,
    roles: [role],
    settings: { most: { default: 10, what: 'The largest value that is usual.' } },
    watch: ({ setting }) => {
      const most = Number(setting('most'));
      let judged = 0;
      return {
        point(series, step, value) {
          judged++;
          return value > most
            ? {
                kind: 'too large',
                sentence: `${series.name} is ${value} at step ${step}, where at most ${most} is usual.`,
                series,
                step,
                value,
                high: most,
              }
            : undefined;
        },
        judged: () => judged,
        band: () => ({ low: Number.NEGATIVE_INFINITY, high: most }),
      };
    },
    ...sketch,
  });
}

/** Broken by any number that is none, of any series. */
export const finite: MonitorRule = rule({
  id: 'monitor/finite',
  level: 'must',
  roles: [],
  watch: () => {
    let judged = 0;
    return {
      point(series, step, value) {
        judged++;
        return Number.isFinite(value)
          ? undefined
          : {
              kind: 'not finite',
              sentence: `${series.name} is ${value} at step ${step}.`,
              series,
              step,
              value,
            };
      },
      judged: () => judged,
    };
  },
});

/** Broken by a completion that has `bad` in it. */
export const noBad: MonitorRule = rule({
  id: 'monitor/no-bad-words',
  roles: [],
  samples: true,
  watch: () => {
    let judged = 0;
    return {
      sample(sample) {
        judged++;
        const at = sample.completion?.indexOf('bad') ?? -1;
        return at < 0
          ? undefined
          : { kind: 'bad', sentence: `${sample.where} says "bad".`, sample, marks: [[at, at + 3]] };
      },
      judged: () => judged,
    };
  },
});

export function rule(sketch: RuleSketch): MonitorRule {
  return {
    id: 'monitor/some-rule',
    title: 'What is logged stays within what is usual.',
    stage: 'monitor',
    level: 'should',
    why: 'It would be something else.',
    catches: [],
    advice: 'Look at `the data` of that step.',
    roles: [],
    settings: {},
    watch: () => ({ judged: () => 0 }),
    ...sketch,
  };
}

export function ledgerOf(rules: readonly MonitorRule[], options: Partial<HistoryOptions> = {}): History {
  return openHistory({
    rules,
    settingOf: (each, name) => each.settings[name]?.default ?? '',
    ...options,
  });
}

/** One point a step, from step 1. */
export function log(history: History, run: string, name: string, values: readonly number[]): void {
  const series = history.series(run, name);
  for (const [at, value] of values.entries()) history.point(series, at + 1, value, Number.NaN);
}

export const FACTS: ReadingFacts = {
  name: 'runs/',
  command: 'lossproof monitor runs/',
  replay: { command: '', again: 'npx lossproof monitor runs/', traced: true, logged: true },
  started: '2026-03-01T09:30:00.000Z',
  milliseconds: 12,
  interrupted: false,
};

export function eventsOf(history: History, rules: readonly MonitorRule[]): readonly RunEvent[] {
  const events: RunEvent[] = [];
  judgeHistory(history, rules, FACTS, (event) => events.push(event));
  return events;
}
