// A run of `mutate`: the trainer as it is, then each change in a process of its own, several side by side. Who starts the
// processes, and where the events go, is decided elsewhere.
import { bound } from '../bounds.ts';
import { mostTellingFirst, workOf } from '../check/parallel/deal.ts';
import type { Measured } from '../check/profile/measured.ts';
import type { Property } from '../check/property.ts';
import type { StopSignal } from '../check/stop.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { FAILING, type Semantics } from '../vocabulary.ts';
import { watchAnswers } from './answers.ts';
import type { Change } from './change.ts';
import type { Baseline, Judged, MutateEvent, Mutation, Reached } from './events.ts';
import { type Asked, judge, judgeChanged, troubleSentence, type Verdict } from './judge.ts';
import { type Reaching, reachOf, runs } from './reach.ts';

/** A trainer that was started for one purpose; or why there is none: what it said, or that no process could take the change. */
export type Started =
  | { readonly trainer: Trainer }
  | { readonly failure: TrainerFailure }
  | 'too late'
  | 'not taken';

export interface Processes {
  /** As it is, with a record of the lines that it runs. `lines` is called once the trainer has been stopped. */
  recorded(): Promise<{ readonly started: Started; readonly lines: () => Reached }>;
  /** As it is. */
  plain(): Promise<Started>;
  /** With one change, in a fork; `slowest`: the longest wait for an answer that is no hang. */
  changed(change: Change, slowest: number): Promise<Started>;
  /** The same where the change is there from the import on, which takes as long as the trainer takes to start. */
  anew(change: Change, slowest: number): Promise<Started>;
  /** No process but a running one can take changes of this file. */
  isScript(change: Change): boolean;
}

export interface MutateOptions extends Asked {
  readonly processes: Processes;
  readonly measured: Measured;
  /** By the trainer as it is. */
  readonly declared: Semantics | undefined;
  /** That can run on this trainer. */
  readonly properties: readonly Property[];
  /** What is there already: the beginning, and whatever was judged. */
  readonly before: Mutation;
  readonly workers: number;
  readonly signal: StopSignal;
  /** Its time is over. */
  readonly time?: StopSignal;
  /** When somebody began to wait, by `performance.now()`: before the trainer was started. */
  readonly begun: number;
}

export type MutateProgress =
  | { readonly type: 'baseline'; readonly done: number; readonly total: number }
  | { readonly type: 'changes'; readonly done: number; readonly total: number };

/** Why nothing can be said of changes: the trainer as it is does not hold. */
export interface NotGreen {
  readonly failing: readonly { readonly id: string; readonly why: string }[];
}

/** Runs all that is not known yet. */
export async function mutate(
  options: MutateOptions,
  emit: (event: MutateEvent) => void,
  onProgress: (progress: MutateProgress) => void = () => {},
): Promise<NotGreen | undefined> {
  const signal: StopSignal = {
    get aborted() {
      return options.signal.aborted || options.time?.aborted === true;
    },
  };
  const timed = { ...options, signal };
  const baseline = await baselineOf(timed, emit, onProgress);
  if ('failing' in baseline) return baseline;
  if (!signal.aborted) await judgeAll(timed, baseline, emit, onProgress);
  const { aborted } = options.signal;
  emit({
    type: 'mutate-end',
    interrupted: aborted,
    milliseconds: performance.now() - options.begun,
    ...(signal.aborted && !aborted ? { stopped: 'time' } : {}),
  });
  return undefined;
}

/** Each property twice on the trainer as it is: with a record of lines, and as changes are judged. */
async function baselineOf(
  { processes, properties, before: earlier, measured, signal, ...asked }: MutateOptions,
  emit: (event: MutateEvent) => void,
  onProgress: (progress: MutateProgress) => void,
): Promise<readonly Baseline[] | NotGreen> {
  const found = new Map(earlier.baseline.map((each) => [each.id, each]));
  const waiting = properties.filter(({ id }) => !found.has(id));
  const failing: { id: string; why: string }[] = [];
  if (waiting.length === 0) return [...found.values()];
  const plain = await processes.plain();
  if (signal.aborted) {
    await stop(plain);
    return [...found.values()];
  }
  if (typeof plain === 'string' || 'failure' in plain) return notStarted(plain);
  const watched = watchAnswers(plain.trainer);
  const options = { ...asked, measured, signal };
  try {
    for (const property of waiting) {
      if (signal.aborted) break;
      const { started, lines } = await processes.recorded();
      if (signal.aborted) {
        await stop(started);
        break;
      }
      if (typeof started === 'string' || 'failure' in started) return notStarted(started);
      const recorded = watchAnswers(started.trainer);
      const first = await judge(property, { ...options, trainer: recorded.trainer });
      await started.trainer.stop();
      const before = performance.now();
      const result = await judge(property, { ...options, trainer: watched.trainer });
      if (signal.aborted) break;
      const milliseconds = performance.now() - before;
      const [one, other] = [recorded.take(), watched.take()];
      const bad = [first, result].find(({ verdict }) => FAILING.includes(verdict));
      if (bad !== undefined)
        failing.push({
          id: bad.id,
          why: bad.failure?.finding?.sentence ?? bad.reason ?? troubleOf(bad.failure),
        });
      const event: Baseline = {
        type: 'baseline',
        id: property.id,
        verdict: bad?.verdict ?? result.verdict,
        milliseconds,
        slowest: other.slowest,
        answers: one.print === other.print ? other.print : '',
        requests: other.requests,
        reached: lines(),
      };
      if (bad === undefined) {
        found.set(property.id, event);
        emit(event);
      }
      onProgress({ type: 'baseline', done: found.size, total: properties.length });
    }
  } finally {
    await plain.trainer.stop();
  }
  return failing.length > 0 ? { failing } : [...found.values()];
}

const troubleOf = (failure: { readonly trainerFailure?: TrainerFailure } | undefined): string =>
  failure?.trainerFailure === undefined ? 'it does not hold' : troubleSentence(failure.trainerFailure);

function notStarted(started: Exclude<Started, { readonly trainer: Trainer }>): NotGreen {
  const why = typeof started === 'string' ? started : troubleSentence(started.failure);
  return { failing: [{ id: 'fork', why }] };
}

/** What began to start before the run was ended. */
async function stop(started: Started): Promise<void> {
  if (typeof started !== 'string' && 'trainer' in started) await started.trainer.stop();
}

/** Those that hold on the trainer as it is: only they can find anything. */
const HOLDS: readonly Baseline['verdict'][] = ['pass', 'known'];

async function judgeAll(
  options: MutateOptions,
  baseline: readonly Baseline[],
  emit: (event: MutateEvent) => void,
  onProgress: (progress: MutateProgress) => void,
): Promise<void> {
  const { start, judged } = options.before;
  const holding = baseline.filter(({ verdict }) => HOLDS.includes(verdict));
  const done = new Set(judged.map(({ id }) => id));
  const caught = countBy(judged.flatMap(({ by }) => by ?? []));
  const slowest = Math.max(0, ...holding.map((each) => each.slowest));
  const isImported = (change: Change): boolean => runs(change, start.files[change.file]?.imported ?? []);
  // A fair sample, wherever it ends; those that need the trainer to start anew come last.
  const queue = start.changes
    .filter(({ id }) => !done.has(id))
    .map((change) => ({ change, reach: reachOf(change, holding, isImported(change)) }))
    .sort((a, b) => costOf(a.reach) - costOf(b.reach) || (a.change.id < b.change.id ? -1 : 1));
  const byId = new Map(holding.map((each) => [each.id, each]));
  const tell = (event: Judged): void => {
    done.add(event.id);
    if (event.by !== undefined) caught.set(event.by, (caught.get(event.by) ?? 0) + 1);
    emit(event);
    onProgress({ type: 'changes', done: done.size, total: start.changes.length });
  };

  const judgeOne = async (change: Change, reach: Reaching): Promise<void> => {
    const begun = performance.now();
    const own = options.properties.filter(({ id }) => reach.properties.includes(id));
    const facts = { ops: reach.ops, properties: own.length };
    const end = (verdict: Pick<Judged, 'outcome'> & Partial<Judged>): void =>
      tell({ type: 'judged', id: change.id, ...facts, ...verdict, milliseconds: performance.now() - begun });
    if (own.length === 0) return end({ outcome: 'unreached' });
    const order = mostTellingFirst(own, {
      work: (property) =>
        workOf(property, options.cases, Object.fromEntries(start.ops.map((op) => [op, true]))),
      cases: options.cases,
      costs: {
        millisecondsOf: (id) => (byId.get(id)?.milliseconds ?? 0) / options.cases,
        caught: (id) => caught.get(id) ?? 0,
      },
    });
    const expected = own.reduce((sum, { id }) => sum + (byId.get(id)?.milliseconds ?? 0), 0);
    const patience = Math.max(slowest * SLOWER, LEAST_PATIENCE_MILLISECONDS);
    const inOne = async (started: Started): Promise<Verdict | undefined | 'too late'> => {
      if (started === 'too late') return started;
      if (started === 'not taken')
        return { outcome: 'untried', reason: 'no live function could take the change' };
      if ('failure' in started)
        return { outcome: 'found', error: true, reason: troubleSentence(started.failure) };
      const { trainer } = started;
      try {
        const milliseconds = expected * SLOWER + LEAST_BUDGET_MILLISECONDS;
        return await judgeChanged({
          ...options,
          trainer,
          properties: order,
          baseline: (id) => byId.get(id),
          declared: options.declared,
          milliseconds,
        });
      } finally {
        await trainer.stop();
      }
    };
    const imported = isImported(change);
    let verdict =
      reach.ops.length === 0 ? 'too late' : await inOne(await options.processes.changed(change, patience));
    // What runs while the trainer is imported has left its mark by the time of the fork.
    const isOpen = verdict === 'too late' || (imported && verdict?.outcome === 'survives');
    if (isOpen && options.processes.isScript(change))
      verdict = { outcome: 'untried', reason: 'it runs once, when the script itself begins' };
    else if (isOpen && !options.signal.aborted)
      verdict = await inOne(await options.processes.anew(change, patience));
    if (verdict === undefined || verdict === 'too late' || options.signal.aborted) return;
    // Not one answer hangs on what ran at the import: no op reaches it.
    const isIdle = reach.ops.length === 0 && verdict.outcome === 'survives' && verdict.answers === 'same';
    end(isIdle ? { outcome: 'unreached' } : verdict);
  };
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined && !options.signal.aborted; next = queue.shift())
      await judgeOne(next.change, next.reach);
  };
  await Promise.all(Array.from({ length: options.workers }, lane));
}

/** Nothing, a fork, or a start of the trainer. */
function costOf({ ops, properties }: Reaching): number {
  return properties.length === 0 ? 0 : ops.length > 0 ? 1 : 2;
}

/** An answer that takes so many times the slowest one before does not come. */
const SLOWER = 5;
const LEAST_PATIENCE_MILLISECONDS = bound({
  of: '`mutate`: an answer of a changed trainer; five times the slowest answer without the change where that is more',
  wall: 10_000,
  over: 'the change counts as found',
});
/** For a handful of properties that take milliseconds: starting a process takes longer. */
const LEAST_BUDGET_MILLISECONDS = bound({
  of: '`mutate`: one change, besides five times what its properties took without it',
  wall: 5_000,
  over: '`untried`',
});

function countBy(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
