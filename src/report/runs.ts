// Runs as reports want them: the events of one run, folded. A run may be unfinished: it is going on, or was cut off.
import type { PropertyResult, RunEvent } from '../check/events.ts';

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

/** A name for each run that tells it from the others: the trainer, its version, and a number where that is not enough. */
export function runNames(runs: readonly Run[]): readonly string[] {
  const plain = runs.map(({ start: { hello } }) =>
    [hello.name, hello.version].filter((part) => part !== undefined).join(' '),
  );
  return plain.map((name, at) => {
    const same = plain.filter((other) => other === name).length;
    return same === 1 ? name : `${name} (${plain.slice(0, at + 1).filter((other) => other === name).length})`;
  });
}
