// Runs as reports want them: the events of one run, folded; how far it came, and what it is called. A run may be
// unfinished: it is going on, or was cut off.
import type { PropertyResult, RunEnd, RunEvent, RunStart } from '../check/events.ts';
import type { Hello } from '../protocol/message.ts';
import { harmless } from '../visible.ts';

export type { RunEnd, RunStart };

export interface Run {
  readonly start: RunStart;
  /** In the order in which they ended. */
  readonly results: readonly PropertyResult[];
  /** The properties in hand, where the run has not ended: one for each trainer at work. */
  readonly running?: readonly Running[];
  /** Something about the run itself, a sentence each. */
  readonly notices?: readonly string[];
  readonly end?: RunEnd;
}

export interface Running {
  readonly id: string;
  readonly done: number;
  readonly total: number;
}

/**
 * Each `run-start` begins a run; what comes before the first belongs to none. One that goes on with a run that was cut off
 * adds to it, in the place of what was not judged.
 */
export function runsOf(events: Iterable<RunEvent>): readonly Run[] {
  const runs: Folding[] = [];
  for (const event of events) {
    if (event.type === 'run-start') {
      const before = event.resumed === true ? runs.at(-1) : undefined;
      if (before !== undefined && isCutOff(before)) goOn(before, event);
      else runs.push({ start: event, results: [], running: [], notices: [] });
    }
    const run = runs.at(-1);
    if (run === undefined) continue;
    switch (event.type) {
      case 'property-start':
        inHand(run, { id: event.id, done: 0, total: run.start.cases });
        break;
      case 'progress':
        inHand(run, { id: event.id, done: event.done, total: event.total });
        break;
      case 'property-end':
        if (run.start.resumed) run.results = run.results.filter(({ id }) => id !== event.result.id);
        run.results.push(event.result);
        run.running = run.running.filter(({ id }) => id !== event.result.id);
        break;
      case 'notice':
        run.notices.push(event.sentence);
        break;
      case 'run-end':
        run.end = event;
        run.running = [];
        break;
    }
  }
  return runs;
}

interface Folding {
  start: RunStart;
  results: PropertyResult[];
  running: readonly Running[];
  notices: string[];
  end?: RunEnd;
}

function goOn(run: Folding, start: RunStart): void {
  run.start = start;
  run.results = run.results.filter(isJudged);
  run.running = [];
  delete run.end;
}

function inHand(run: Folding, now: Running): void {
  run.running = [...run.running.filter(({ id }) => id !== now.id), now];
}

/** It had its turn, whatever came of it. */
export function isJudged({ verdict }: PropertyResult): boolean {
  return verdict !== 'interrupted';
}

/** It ended before every property had its turn, or has not ended yet. */
export function isCutOff({ end }: Pick<Run, 'end'>): boolean {
  return end === undefined || end.interrupted || end.stopped !== undefined;
}

/** Of a run that was asked for and never began: why. It is there so that nobody takes what is missing for not asked. */
export function notBegun({ end, results }: Pick<Run, 'end' | 'results'>): string | undefined {
  return end?.interrupted === true && results.length === 0 ? end.noVerdict : undefined;
}

/** Why it was cut off. */
export function cutOffWords({ end }: Pick<Run, 'end'>): string {
  if (end === undefined) return 'The events end before the run does';
  switch (end.stopped) {
    case 'time':
      return 'The time of --max-time was over';
    case 'bail':
      return 'The run was stopped by --bail';
    default:
      return 'The run was interrupted';
  }
}

/** `3 of 13 properties`: how many have a result that says something, of those that were asked for. */
export function reached({ start, results }: Run): string {
  const judged = results.filter(isJudged).length;
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
