// A fault that is planted into a healthy run: what it does to the columns from its onset on, and how strong it may be.
import type { Dice, Log } from '../../rules/logs.ts';
import type { Kind } from '../healthy.ts';
import type { Column, Columns, Simulation } from '../simulation.ts';

export interface Fault {
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** From the weakest to the strongest; each is shown as `strengthName`, with # for the number. */
  readonly strengths: readonly number[];
  readonly strengthName: string;
  /** `start`: it is there from the first step on. */
  readonly onset: 'start' | 'later';
  /** The columns that change; undefined: the run does not log what would. */
  readonly plant: (planting: Planting) => Columns | undefined;
  /** Rules that it breaks at its strongest, in some run at least; every rule about series is one of some fault. */
  readonly breaks: readonly string[];
  /** What the run declares, and what the user sets, where the rule compares with it. */
  readonly says?: (planting: Planting) => Pick<Log, 'declared' | 'settings'>;
  /** A run that is resumed: so many rows before the first wrong one are logged once more. */
  readonly again?: number;
}

export interface Planting {
  readonly run: Simulation;
  /** The first row that is wrong. */
  readonly onset: number;
  readonly strength: number;
  readonly by: Dice;
}

/** From the onset on, another value; `since` counts from 0 there. */
export function changed(
  values: Column | undefined,
  onset: number,
  change: (value: number, since: number) => number | undefined,
): Column {
  return (values ?? []).map((value, row) =>
    row < onset || value === undefined ? value : change(value, row - onset),
  );
}

/** A series that the healthy run does not log, or logs otherwise. */
export const fresh = (run: Simulation, value: (row: number) => number | undefined): Column =>
  Array.from({ length: run.plan.rows }, (_, row) => value(row));

/** From 0 at the onset to 1, half of it within so many rows. */
export const towards = (since: number, rows: number): number => 1 - 2 ** (-(since + 1) / rows);

/** The change of columns that the run has; undefined where it lacks the first of them. */
export function only(run: Simulation, changes: Columns): Columns | undefined {
  const [first] = Object.keys(changes);
  if (first === undefined || run.columns[first] === undefined) return undefined;
  return Object.fromEntries(Object.entries(changes).filter(([name]) => run.columns[name] !== undefined));
}
