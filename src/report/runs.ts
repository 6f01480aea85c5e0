// Runs as reports want them: the events of one run, folded; how far it came, and what it is called. A run may be
// unfinished: it is going on, or was cut off.
import type { PropertyResult, RunEvent } from '../check/events.ts';
import type { Hello } from '../protocol/message.ts';
import { harmless } from '../visible.ts';

export type RunStart = Extract<RunEvent, { type: 'run-start' }>;
export type RunEnd = Extract<RunEvent, { type: 'run-end' }>;

export interface Run {
  readonly start: RunStart;
  /** In the order in which they ended. */
  readonly results: readonly PropertyResult[];
  /** The property in hand, where the run has not ended. */
  readonly running?: { readonly id: string; readonly done: number; readonly total: number };
  readonly end?: RunEnd;
}

/** Each `run-start` begins a run; what comes before the first belongs to none. */
export function runsOf(events: Iterable<RunEvent>): readonly Run[] {
  const runs: { start: RunStart; results: PropertyResult[]; running?: Run['running']; end?: RunEnd }[] = [];
  for (const event of events) {
    if (event.type === 'run-start') runs.push({ start: event, results: [] });
    const run = runs.at(-1);
    if (run === undefined) continue;
    switch (event.type) {
      case 'property-start':
        run.running = { id: event.id, done: 0, total: run.start.cases };
        break;
      case 'progress':
        run.running = { id: event.id, done: event.done, total: event.total };
        break;
      case 'property-end':
        run.results.push(event.result);
        delete run.running;
        break;
      case 'run-end':
        run.end = event;
        break;
    }
  }
  return runs as readonly Run[];
}

/** It ended before every property had its turn, or has not ended yet. */
export function isCutOff({ end }: Run): boolean {
  return end === undefined || end.interrupted;
}

/** `3 of 13 properties`: how many have a result that says something, of those that were asked for. */
export function reached({ start, results }: Run): string {
  const judged = results.filter(({ verdict }) => verdict !== 'interrupted').length;
  return `${judged} of ${Math.max(start.properties.length, results.length)} properties`;
}

/** What it took; of one that has not ended, what its properties took. */
export function millisecondsOf({ results, end }: Run): number {
  return end?.milliseconds ?? results.reduce((all, { milliseconds }) => all + milliseconds, 0);
}

/** The stage of a property by its id: for one that no run has listed. */
export function stageOf(id: string): string {
  return id.split('/')[0] ?? id;
}

/** What must not be overlooked about a run of the bundled example, in every report. */
export const BUNDLED = 'the bundled example, not your trainer';

/** Whose trainer a run was of: its name and version, and that it is not the user's where it is the bundled example. */
export function whoseTrainer({ hello, bundled }: Pick<RunStart, 'hello' | 'bundled'>): string {
  return bundled === true ? `${trainerName(hello)}, ${BUNDLED}` : trainerName(hello);
}

/** The trainer and its version, as it calls itself. */
export function trainerName({ name, version }: Pick<Hello, 'name' | 'version'>): string {
  return version === undefined ? name : `${name} ${version}`;
}

/** A name for each run that tells it from the others: that in its configuration, else the trainer and its version; and a number where that is not enough. */
export function runNames(runs: readonly Run[]): readonly string[] {
  const plain = runs.map(({ start: { name, hello } }) => name ?? trainerName(hello));
  return plain.map((name, at) => {
    const same = plain.filter((other) => other === name).length;
    return same === 1 ? name : `${name} (${plain.slice(0, at + 1).filter((other) => other === name).length})`;
  });
}

/**
 * A name for each trainer that stays the same from run to run, as far as it tells the runs apart: its name in the
 * configuration, else its own without its version. CI systems follow a test, and code scanning an alert, by it.
 */
export function lastingNames(runs: readonly Run[]): readonly string[] {
  const names = runs.map(({ start: { name, hello } }) => harmless(name ?? hello.name));
  return names.map((name, at) => {
    const before = names.slice(0, at).filter((other) => other === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
  });
}
