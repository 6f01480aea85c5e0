// What a run of `mutate` tells as it goes on, line by line in a file: it is gone on with, shown and summed up from these alone.
import type { Verdict } from '../vocabulary.ts';
import type { Change, ChangedFile } from './change.ts';

/** Lines that were run, by what ran them (an op) and the file's number. */
export type Reached = Readonly<Record<string, readonly (readonly number[])[]>>;

export interface MutateStart {
  readonly type: 'mutate-start';
  /** Of the harness. */
  readonly version: string;
  readonly command: string;
  readonly name?: string;
  /** ISO 8601 in UTC. */
  readonly started: string;
  readonly seed: number;
  readonly cases: number;
  /** Of what else it was asked: properties, known failures, what the trainer says it is. A run with another one is another run. */
  readonly asked: string;
  readonly files: readonly ChangedFile[];
  readonly changes: readonly Change[];
  /** Ops that the adapter offers. */
  readonly ops: readonly string[];
  /** What holds nothing back here, with the reason: properties that this adapter cannot be held to. */
  readonly absent: readonly AbsentProperty[];
}

export interface AbsentProperty {
  readonly id: string;
  readonly ops: readonly string[];
  readonly reason: string;
}

/** One property on the trainer as it is. */
export interface Baseline {
  readonly type: 'baseline';
  readonly id: string;
  readonly verdict: Verdict;
  /** Of the clock, without a record of lines. */
  readonly milliseconds: number;
  /** The longest wait for an answer. */
  readonly slowest: number;
  /** Of its answers, whatever their order; empty where they differ from one time to the next. */
  readonly answers: string;
  readonly requests: number;
  readonly reached: Reached;
}

/** What became of a change. `untried`: no process could take it, or there was no verdict in time. */
export const OUTCOMES = ['found', 'survives', 'unreached', 'untried'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Judged {
  readonly type: 'judged';
  /** Of the change. */
  readonly id: string;
  readonly outcome: Outcome;
  /** The property that found it. */
  readonly by?: string;
  /** It was found because no answer came: the trainer raised, ended, hung. */
  readonly error?: true;
  /** What was found, or why it was not tried. */
  readonly reason?: string;
  /** Ops that reach it. */
  readonly ops?: readonly string[];
  /** Properties that reach it. */
  readonly properties?: number;
  /** Declarations under which it is found: it is legal, and measured anew each time. */
  readonly declare?: readonly string[];
  /** What the adapter declares of it is another thing with the change; held to what it was, the trainer would be found. */
  readonly follows?: readonly string[];
  /** So many properties that held are skipped with it; why the first of them is. */
  readonly skips?: { readonly properties: number; readonly reason: string };
  /** Whether any answer is another one with it; absent: answers differ by themselves. */
  readonly answers?: 'same' | 'other';
  /** Of so many requests. */
  readonly requests?: number;
  readonly milliseconds: number;
}

export interface MutateEnd {
  readonly type: 'mutate-end';
  readonly milliseconds: number;
  readonly interrupted: boolean;
  /** Its time was over. */
  readonly stopped?: 'time';
}

export type MutateEvent = MutateStart | Baseline | Judged | MutateEnd;

/** A run as it can be shown: of events, the last of each. */
export interface Mutation {
  readonly start: MutateStart;
  readonly baseline: readonly Baseline[];
  readonly judged: readonly Judged[];
  readonly end?: MutateEnd;
}

/** Of the last run that begins in these events; undefined where none does. */
export function mutationOf(events: readonly MutateEvent[]): Mutation | undefined {
  const from = events.findLastIndex(({ type }) => type === 'mutate-start');
  const start = events[from];
  if (start?.type !== 'mutate-start') return undefined;
  const baseline = new Map<string, Baseline>();
  const judged = new Map<string, Judged>();
  let end: MutateEnd | undefined;
  for (const event of events.slice(from + 1)) {
    if (event.type === 'baseline') baseline.set(event.id, event);
    if (event.type === 'judged') judged.set(event.id, event);
    if (event.type === 'mutate-end') end = event;
  }
  return {
    start,
    baseline: [...baseline.values()],
    judged: [...judged.values()],
    ...(end === undefined ? {} : { end }),
  };
}

export interface Score {
  readonly changes: number;
  readonly found: number;
  /** Of those found: no answer came. */
  readonly byError: number;
  readonly unreached: number;
  readonly survive: number;
  /** Of those that survive: no answer is another one. */
  readonly alike: number;
  readonly untried: number;
  /** Not yet judged. */
  readonly left: number;
}

export function scoreOf({ start, judged }: Mutation): Score {
  const count = (is: (each: Judged) => boolean): number => judged.filter(is).length;
  return {
    changes: start.changes.length,
    found: count(({ outcome }) => outcome === 'found'),
    byError: count(({ outcome, error }) => outcome === 'found' && error === true),
    unreached: count(({ outcome }) => outcome === 'unreached'),
    survive: count(({ outcome }) => outcome === 'survives'),
    alike: count(({ outcome, answers }) => outcome === 'survives' && answers === 'same'),
    untried: count(({ outcome }) => outcome === 'untried'),
    left: start.changes.length - judged.length,
  };
}
