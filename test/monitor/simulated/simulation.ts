// A simulated run before it is logged: its columns under names of their own, so that a fault changes the same thing in the run
// of any trainer; and how its trainer calls them.
import type { SettingValue } from '../../../src/monitor/rule.ts';
import type { Plan } from './plan.ts';

/** A value per row; undefined where nothing is logged. */
export type Column = (number | undefined)[];
export type Columns = Record<string, Column>;

/** How the trainer calls a column. */
export type Naming = (column: string) => string;

export interface Simulation {
  readonly plan: Plan;
  readonly columns: Columns;
  readonly naming: Naming;
  readonly declared?: Readonly<Record<string, SettingValue>>;
}

/** `trainer_state.json` and what TRL gives its logger: `eval_loss`. */
export const state: Naming = (column) => column;

/** The same in TensorBoard and W&B: `train/loss`, `eval/loss`. */
export const board: Naming = (column) =>
  column.startsWith('eval_') ? `eval/${column.slice('eval_'.length)}` : `train/${column}`;

/** A table of names; a column that is not in it is called as `rest` does. */
export const called =
  (names: Readonly<Record<string, string>>, rest: Naming = state): Naming =>
  (column) =>
    names[column] ?? rest(column);

/** Numbers of a column, without the rows that have none. */
export const numbersOf = (column: Column | undefined): number[] =>
  (column ?? []).filter((value): value is number => value !== undefined);

/** `count` of anything. */
export const listOf = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
