// How a run comes to be a log: what healthy loggers leave out, round, smooth, write twice, or write again after a resumption.
import type { Dice, Log } from '../rules/logs.ts';
import { type Column, type Columns, listOf, type Naming, type Simulation } from './simulation.ts';

/** A change that a logger makes; its name is shown beside a run that was blamed. */
interface Modifier {
  readonly name: string;
  readonly chance: number;
  /** Rows, series or their steps are no longer those of the run. */
  readonly hides?: true;
  /** Undefined: not for this run. */
  readonly change: (by: Dice, log: Written, naming: Naming) => Written | undefined;
}

export interface Written {
  readonly steps: readonly number[];
  readonly columns: Columns;
}

export interface LoggedRun {
  readonly log: Log;
  readonly modifiers: readonly string[];
}

/** `whole`: with all its rows and series under their own steps, as one wants a run in which something was planted. */
export function logged(by: Dice, { plan, columns, naming, declared }: Simulation, whole = false): LoggedRun {
  let written: Written = { steps: plan.steps, columns };
  const modifiers: string[] = [];
  for (const { name, chance, change, hides } of MODIFIERS) {
    if (by.uniform() >= chance || (whole && hides === true)) continue;
    const changed = change(by, written, naming);
    if (changed === undefined) continue;
    written = changed;
    modifiers.push(name);
  }
  // What counts micro-steps is a loop of somebody's own, which declares no schedule in steps of the optimiser.
  const { lr_scheduler_type: schedule, ...rest } = declared ?? {};
  const said = modifiers.includes(MICRO) || schedule === undefined ? rest : declared;
  const series = Object.fromEntries(
    Object.entries(written.columns).map(([name, values]) => [naming(name), values]),
  );
  return {
    log: { series, steps: written.steps, declared: said ?? {} },
    modifiers,
  };
}

// --- helpers ---

const MICRO = 'micro-steps';

/** Without these a log says nothing of its kind. */
const ESSENTIAL = ['loss', 'reward', 'policy_loss', 'sft_loss', 'world', 'epoch'];
const SMOOTHED = ['loss', 'policy_loss', 'value_loss', 'reward', 'kl', 'entropy', 'length'];
/** The same when a step is done again, or on another rank: what is counted or gathered. */
const FIXED = [
  'learning_rate',
  'epoch',
  'samples',
  'truncated',
  'dead',
  'perceptual',
  'num_tokens',
  'reward',
  'reward_std',
];

const MODIFIERS: readonly Modifier[] = [
  {
    name: 'smoothed',
    chance: 0.06,
    change: (by, log) => {
      const weight = by.pick([0.6, 0.9, 0.98]);
      // Most smooth what they look at, some everything.
      const norms = by.uniform() < 0.3 || log.columns.reward !== undefined;
      const fits = (name: string): boolean => SMOOTHED.includes(name) || (norms && name === 'grad_norm');
      return mapped(log, (name, values) => (fits(name) ? smoothed(values, weight) : values));
    },
  },
  {
    name: 'series missing',
    chance: 0.15,
    hides: true,
    change: (by, { steps, columns }) => {
      const kept = Object.entries(columns).filter(([name]) => ESSENTIAL.includes(name) || by.uniform() < 0.7);
      return { steps, columns: Object.fromEntries(kept) };
    },
  },
  {
    name: 'points missing',
    chance: 0.05,
    hides: true,
    change: (by, log) =>
      mapped(log, (_, values) => values.map((value) => (by.uniform() < 0.03 ? undefined : value))),
  },
  {
    name: MICRO,
    chance: 0.05,
    hides: true,
    change: (by, { steps, columns }) => {
      if (columns.loss === undefined || columns.reward !== undefined || steps.length > 600) return undefined;
      // A scaler's skipped steps are seen once an optimiser's step.
      if (columns.grad_norm?.some((norm = 0) => !Number.isFinite(norm)) === true) return undefined;
      const micro = by.pick([2, 4, 8]);
      const zero = by.uniform() < 0.5;
      return {
        steps: steps.flatMap((step) => listOf(micro, (part) => step * micro - micro + part + 1)),
        columns: mapColumns(columns, (name, values) =>
          values.flatMap((value, row) =>
            listOf(micro, (part): number | undefined => {
              if (part === micro - 1) return value;
              // The rate moves with the step of the optimiser, behind the last of them.
              if (name === 'learning_rate') return values[Math.max(0, row - 1)];
              if (name === 'grad_norm') return zero ? 0 : undefined;
              if (name.startsWith('eval_')) return undefined;
              return again(by, name, value);
            }),
          ),
        ),
      };
    },
  },
  {
    name: 'ranks in one series',
    chance: 0.04,
    hides: true,
    change: (by, { steps, columns }) => {
      const ranks = by.pick([2, 4, 8]);
      return {
        steps: steps.flatMap((step) => listOf(ranks, () => step)),
        columns: mapColumns(columns, (name, values) =>
          values.flatMap((value) => listOf(ranks, (rank) => (rank === 0 ? value : again(by, name, value)))),
        ),
      };
    },
  },
  {
    name: 'ranks in series of their own',
    chance: 0.03,
    hides: true,
    change: (by, { steps, columns }) => {
      const own = Object.entries(columns).flatMap(([name, values]) =>
        listOf(2, (rank) => rank).map((rank): [string, Column] => [
          `rank${rank}/${name}`,
          values.map((value) => again(by, name, value)),
        ]),
      );
      return { steps, columns: { ...columns, ...Object.fromEntries(own) } };
    },
  },
  {
    name: 'resumed',
    chance: 0.1,
    change: (by, { steps, columns }) => {
      const at = by.whole(2, steps.length - 1);
      const back = by.pick([0, 1, 3, Math.floor(at / 2)]);
      const from = Math.max(0, at - back);
      // The first steps behind it cost more where the optimiser's state was not saved.
      const bump = by.pick([0, 0, 0.05, 0.2]);
      return {
        steps: [...steps.slice(0, at), ...steps.slice(from)],
        columns: mapColumns(columns, (name, values) => [
          ...values.slice(0, at),
          ...values.slice(from).map((value, row) => {
            const other = row < back ? again(by, name, value) : value;
            return name === 'loss' && other !== undefined ? other * (1 + bump * Math.exp(-row / 2)) : other;
          }),
        ]),
      };
    },
  },
  {
    name: 'broken off',
    chance: 0.08,
    hides: true,
    change: (by, { steps, columns }) => {
      const at = by.whole(Math.min(5, steps.length), steps.length);
      return {
        steps: steps.slice(0, at),
        columns: mapColumns(columns, (_, values) => values.slice(0, at)),
      };
    },
  },
  {
    name: 'four decimals',
    chance: 0.5,
    // transformers does so with losses, whatever their size.
    change: (_, log, naming) =>
      /^(train\/)?loss$/.test(naming('loss'))
        ? mapped(log, (name, values) =>
            ['loss', 'eval_loss', 'epoch'].includes(name)
              ? rounded(values, (value) => Math.round(value * 1e4) / 1e4)
              : values,
          )
        : undefined,
  },
  {
    name: 'four digits',
    chance: 0.15,
    change: (_, log) =>
      mapped(log, (_name, values) => rounded(values, (value) => Number(value.toPrecision(4)))),
  },
];

const mapColumns = (columns: Columns, change: (name: string, values: Column) => Column): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, change(name, values)]));

const mapped = ({ steps, columns }: Written, change: (name: string, values: Column) => Column): Written => ({
  steps,
  columns: mapColumns(columns, change),
});

const rounded = (values: Column, round: (value: number) => number): Column =>
  values.map((value) => (value === undefined || !Number.isFinite(value) ? value : round(value)));

/** The same step on another batch. */
function again(by: Dice, name: string, value: number | undefined): number | undefined {
  if (value === undefined || value === 0 || FIXED.includes(name)) return value;
  const other = value * by.heavy(1, 0.05);
  return value > 0 && value <= 1 && SHARES.includes(name) ? Math.min(1, other) : other;
}

const SHARES = ['mean_token_accuracy', 'rewards/accuracies', 'accuracy', 'clip_fraction'];

function smoothed(values: Column, weight: number): Column {
  let state: number | undefined;
  return values.map((value) => {
    if (value === undefined || !Number.isFinite(value)) return value;
    state = state === undefined ? value : weight * state + (1 - weight) * value;
    return state;
  });
}
