// `--resume`: a run that was cut off goes on. What it judged stands; everything about it must be as it was.
import { resolve } from 'node:path';
import type { PropertyResult, RunStart } from '../../check/events.ts';
import { differenceOf } from '../../report/merge.ts';
import { isCutOff, isJudged, type Run } from '../../report/runs.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { readRunFile } from '../outputs/saved-runs.ts';

export interface Resumed {
  readonly run: Run;
  /** As typed, or where the last run is kept. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
}

/** The run that a file ends with. One that is whole has nothing left to do, and its verdict may be that of an older trainer. */
export function resumedFrom(file: string, context: Pick<Context, 'cwd'>): Resumed | Problem {
  const read = readRunFile(file, context);
  if (isProblem(read)) return { problem: `--resume: ${read.problem}` };
  const run = read.runs.at(-1);
  if (run === undefined) return { problem: `--resume: no run has begun in ${file}; leave --resume out` };
  if (read.runs.length > 1)
    return {
      problem: `--resume: ${file} holds ${read.runs.length} runs, and it goes on with one; check the others again by --trainer NAME`,
    };
  if (!isCutOff(run))
    return { problem: `--resume: the run in ${file} came to its end; leave --resume out to begin another` };
  return { run, file, path: resolve(context.cwd, file) };
}

/** What stands of it, now that the trainer has said what it is. */
export function keptOf({ run, file }: Resumed, now: RunStart): readonly PropertyResult[] | Problem {
  const part = run.start.shard;
  if (part !== undefined && now.shard === undefined)
    return {
      problem: `--resume: ${file} is part ${part.index} of ${part.of}; say --shard ${part.index}/${part.of}, too`,
    };
  // Where no case was tried, the measurement may have been cut off, too, and nothing stands that could hang on it.
  const tried = run.results.some(({ cases }) => cases > 0);
  const before = tried || now.measured === undefined ? run.start : { ...run.start, measured: now.measured };
  const other = differenceOf(before, now) ?? (isSamePart(run.start, now) ? undefined : 'other properties');
  if (other !== undefined)
    return {
      problem: `--resume: the run in ${file} was of ${other}; nothing of it stands. Leave --resume out`,
    };
  const ids = new Set(now.properties.map(({ id }) => id));
  return run.results.filter((result) => tried && isJudged(result) && ids.has(result.id));
}

function isSamePart(one: RunStart, other: RunStart): boolean {
  const ids = (start: RunStart): string => start.properties.map(({ id }) => id).join();
  return one.shard?.index === other.shard?.index && ids(one) === ids(other);
}
