// Made-up logs, and what rules say of them, fed through the history that `monitor` feeds them through.
import { openHistory, type RunHistory } from '../../../src/monitor/history/history.ts';
import type { MonitorRule, SettingValue, Violation } from '../../../src/monitor/rule.ts';

/** Values by name, one a step; undefined where nothing was logged. */
export interface Log {
  readonly series: Readonly<Record<string, readonly (number | undefined)[]>>;
  /** The step of the first value, and how many lie between two: 1 and 1. */
  readonly first?: number;
  readonly every?: number;
  /** The step of each row, where they are not so many apart: of runs that went back, or wrote a step twice. */
  readonly steps?: readonly number[];
  readonly declared?: Readonly<Record<string, SettingValue>>;
  readonly settings?: Readonly<Record<string, SettingValue>>;
}

export interface Said {
  readonly rule: string;
  readonly violation: Violation;
  /** The row, from 0, with which it was said; Infinity: at the end. */
  readonly row: number;
}

/** Everything that these rules say, with the row that made them say it. */
export function sayingsOf(
  rules: readonly MonitorRule[],
  log: Log,
): { said: readonly Said[]; run: RunHistory } {
  const said: Said[] = [];
  let row = 0;
  const history = openHistory({
    rules,
    settingOf: (rule, name) => {
      const own = log.settings?.[name];
      return own ?? (rule.settings[name]?.default as SettingValue);
    },
    onBroken: (state, violation) => said.push({ rule: state.rule.id, violation, row }),
  });
  for (const [name, value] of Object.entries(log.declared ?? {})) history.declare('run', name, value);
  const rows = Math.max(...Object.values(log.series).map((values) => values.length));
  for (row = 0; row < rows; row++) {
    const step = log.steps?.[row] ?? (log.first ?? 1) + row * (log.every ?? 1);
    for (const [name, values] of Object.entries(log.series)) {
      const value = values[row];
      if (value !== undefined) history.point(history.series('run', name), step, value, Number.NaN);
    }
  }
  row = Number.POSITIVE_INFINITY;
  history.end();
  const [run] = history.runs();
  if (run === undefined) throw new Error('the log is empty');
  const broken = run.rules.filter(({ error }) => error !== undefined);
  if (broken.length > 0) throw new Error(broken.map(({ rule, error }) => `${rule.id}: ${error}`).join('\n'));
  return { said, run };
}

/** The same numbers each time: mulberry32. */
export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return {
    uniform,
    normal,
    whole: (from, to) => from + Math.floor(uniform() * (to - from + 1)),
    pick: (items) => items[Math.floor(uniform() * items.length)] as never,
    heavy: (scale, sigma) => scale * Math.exp(sigma * normal()),
  };
}

export interface Dice {
  uniform(): number;
  normal(): number;
  whole(from: number, to: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Log-normal. */
  heavy(scale: number, sigma: number): number;
}

/** `count` values. */
export function make(count: number, value: (row: number) => number): number[] {
  return Array.from({ length: count }, (_, row) => value(row));
}
