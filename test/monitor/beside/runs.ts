// Made-up runs of one task at several seeds: what a task fixes (start, floor, fall, noise), what another seed changes, what
// another length and another logging interval change, and faults.
import { besideRules } from '../../../properties/monitor/beside/index.ts';
import type { BaselineRun } from '../../../src/monitor/beside/beside.ts';
import { summaryOf } from '../../../src/monitor/beside/summary.ts';
import { type History, openHistory } from '../../../src/monitor/history/history.ts';
import type { Violation } from '../../../src/monitor/rule.ts';
import { type Dice, dice, type Log, make } from '../rules/logs.ts';

export const TASKS = ['sft', 'epochs', 'dpo', 'grpo', 'sparse grpo'] as const;
export type TaskKind = (typeof TASKS)[number];

export const FAULTS = [
  'labels shuffled',
  'rate 0',
  'rate x100',
  'summed loss',
  'overfit',
  'reward gone',
  'never rises',
  'lengths run away',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Variant {
  /** Steps, over those that are usual for the task. */
  readonly length?: number;
  /** Steps between two logged rows, each the mean of those since. */
  readonly every?: number;
  readonly fault?: Fault;
  /** Seeds differ twice as much, and the noise of a row is half that of the row before. */
  readonly rough?: true;
}

/** The same task, the same curve behind the noise; the same seed, the same run. */
export function runOf(kind: TaskKind, task: number, seed: number, variant: Variant = {}): Log {
  const of = dice(task * 32 + TASKS.indexOf(kind) + 1);
  const by =
    variant.rough === true
      ? rough(dice((task * 7919 + seed * 104_729 + 13) >>> 0))
      : dice((task * 7919 + seed * 104_729 + 13) >>> 0);
  const usual = of.pick([40, 60, 120, 400]);
  const steps = Math.max(20, Math.round(usual * (variant.length ?? 1)));
  const every = variant.every ?? 1;
  const values =
    kind === 'grpo' || kind === 'sparse grpo'
      ? policy(of, by, kind, usual, steps, variant.fault)
      : supervised(of, by, kind, usual, steps, variant.fault);
  return {
    first: every,
    every,
    series: Object.fromEntries(
      Object.entries(values).map(([name, all]) => [
        name,
        name === 'epoch' ? last(all, every) : logged(all, every),
      ]),
    ),
  };
}

function supervised(of: Dice, by: Dice, kind: TaskKind, usual: number, steps: number, fault?: Fault) {
  const start = kind === 'dpo' ? Math.log(2) : of.pick([1.5, 2.5, 4, 10]);
  const floor = start * of.pick(kind === 'dpo' ? [0.1, 0.3, 0.6] : [0.05, 0.3, 0.6, 0.85]);
  const fall = usual * of.pick([0.05, 0.15, 0.4]);
  const noise = of.pick([0.02, 0.08, 0.2]);
  const passes = kind === 'epochs' ? 3 : of.pick([0.5, 1]);
  const norm = of.pick([0.3, 1, 20]);
  const tails = of.pick([0.2, 0.5, 1]);
  // Another seed.
  const [ownFloor, ownFall] = [floor * by.heavy(1, 0.05), fall * by.heavy(1, 0.15)];
  const warm = Math.max(1, usual * of.pick([0, 0.03, 0.1]));
  const level = (row: number): number => {
    const pass = kind === 'epochs' ? 0.6 ** Math.floor((row / usual) * passes) : 1;
    const shape = Math.exp(-Math.max(0, row - warm / 2) / ownFall);
    const healthy = (ownFloor + (start - ownFloor) * shape) * pass;
    if (fault === 'rate 0') return start;
    if (fault === 'labels shuffled') return start * 4 * (0.4 + 0.6 * Math.exp(-row / fall));
    if (fault === 'rate x100')
      return row < usual * 0.3 ? healthy : healthy + start * 4 * (1 - Math.exp(-(row - usual * 0.3) / 5));
    return fault === 'summed loss'
      ? 8 * healthy
      : fault === 'overfit'
        ? healthy * Math.exp(-row / (usual / 4))
        : healthy;
  };
  const loss = make(steps, (row) => Math.max(1e-4, level(row) * by.heavy(1, noise)));
  return {
    loss,
    grad_norm: make(steps, (row) =>
      by.heavy(
        norm * (fault === 'rate x100' && row > usual * 0.3 ? 300 : fault === 'summed loss' ? 8 : 1),
        tails,
      ),
    ),
    learning_rate: make(steps, (row) => 1e-5 * (1 - row / steps)),
    epoch: make(steps, (row) => ((row + 1) / usual) * passes),
    eval_loss: make(steps, (row) => row).map((row) =>
      (row + 1) % Math.max(1, Math.floor(usual / 8)) === 0
        ? (fault === 'overfit'
            ? start * (0.5 + (2 * row) / usual)
            : ownFloor + (start - ownFloor) * Math.exp(-row / ownFall)) * by.heavy(1.05, 0.02)
        : undefined,
    ),
  };
}

function policy(of: Dice, by: Dice, kind: TaskKind, usual: number, steps: number, fault?: Fault) {
  const from = of.pick([-1, 0, 0.2]);
  const gain = of.pick([0, 0.2, 0.7]);
  const noise = of.pick([0.02, 0.05, 0.1]);
  const length = of.pick([60, 400]);
  const growth = of.pick([0, 0.4, 1]);
  const rise = usual * (kind === 'grpo' ? of.pick([0.2, 0.5]) : of.pick([0.1, 0.3]));
  const own = rise * by.heavy(1, kind === 'grpo' ? 0.15 : 0.35);
  const reward = (row: number): number => {
    const shape =
      kind === 'grpo' ? 1 - Math.exp(-row / own) : 1 / (1 + Math.exp((own - row) / (0.15 * usual)));
    if (fault === 'never rises') return from;
    return fault === 'reward gone' && row > usual / 2 ? from - 0.8 : from + gain * shape;
  };
  return {
    loss: make(steps, () => 0.02 * by.normal()),
    reward: make(steps, (row) => reward(row) + noise * by.normal()),
    grad_norm: make(steps, () => by.heavy(0.5, 0.6)),
    'completions/mean_length': make(
      steps,
      (row) =>
        (fault === 'lengths run away'
          ? length * (1 + (8 * row) / usual)
          : length * (1 + growth * (1 - Math.exp(-row / own)))) * by.heavy(1, 0.12),
    ),
    kl: make(steps, (row) => by.heavy(1e-4 * (row + 1), 0.4)),
  };
}

/** What `log`, laid beside these, is blamed for. */
export function saidBeside(log: Log, baselines: readonly Log[]): { rule: string; violation: Violation }[] {
  const said: { rule: string; violation: Violation }[] = [];
  const history = openHistory({
    rules: besideRules,
    settingOf: (rule, name) => rule.settings[name]?.default ?? '',
    baseline: { runs: baselines.map((each, at) => summedUp(each, `good ${at + 1}`)) },
    onBroken: (state, violation) => said.push({ rule: state.rule.id, violation }),
  });
  feed(history, log, 'run');
  const broken = history.runs().flatMap(({ rules }) => rules.flatMap(({ error }) => error ?? []));
  if (broken.length > 0) throw new Error(broken.join('\n'));
  return said;
}

export function summedUp(log: Log, name: string): BaselineRun {
  const history = openHistory({ rules: [], settingOf: () => '' });
  feed(history, log, name);
  const [run] = history.runs();
  if (run === undefined) throw new Error('the log is empty');
  return summaryOf(run);
}

// --- helpers ---

/** What a seed changes is drawn by `heavy` of small widths: twice as wide; later draws hang on each other. */
function rough(by: Dice): Dice {
  let last = 0;
  return {
    ...by,
    heavy: (scale, sigma) => {
      last = 0.5 * last + Math.sqrt(0.75) * by.normal();
      return scale * Math.exp((sigma <= 0.15 ? 2 : 1) * sigma * last);
    },
  };
}

function feed(history: History, log: Log, name: string): void {
  const rows = Math.max(...Object.values(log.series).map((values) => values.length));
  for (let row = 0; row < rows; row++) {
    for (const [series, values] of Object.entries(log.series)) {
      const value = values[row];
      if (value !== undefined)
        history.point(
          history.series(name, series),
          (log.first ?? 1) + row * (log.every ?? 1),
          value,
          Number.NaN,
        );
    }
  }
  history.end();
}

/** As transformers logs: the mean since the last row. */
function logged(values: readonly (number | undefined)[], every: number): (number | undefined)[] {
  return make(Math.floor(values.length / every), (row) => row).map((row) => {
    const part = values.slice(row * every, (row + 1) * every).filter((value) => value !== undefined);
    return part.length === 0 ? undefined : part.reduce((a, b) => a + b, 0) / part.length;
  });
}

function last(values: readonly (number | undefined)[], every: number): (number | undefined)[] {
  return make(Math.floor(values.length / every), (row) => row).map((row) => values[(row + 1) * every - 1]);
}
