// What a run of `check` leaves behind: its events while it goes on, its reports when it has ended, also where it was
// interrupted.
import { dirname, resolve } from 'node:path';
import type { RunEvent } from '../../check/events.ts';
import { runsOf } from '../../report/runs.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { openEventFile } from '../outputs/event-file.ts';
import { tellGithub } from '../outputs/github.ts';
import { AS_LAST_RUN, type Keeping, openKept, rememberSoFar } from '../outputs/last-run.ts';
import { lock } from '../outputs/lock.ts';
import { type OutputOptions, openOutputs, type Renderers } from '../outputs/outputs.ts';
import { tellWebhook } from '../outputs/webhook.ts';
import { SHARDS_FOLDER } from './shard.ts';

export interface RecordOptions extends OutputOptions {
  /** False where --no-annotations was typed. */
  readonly annotations: boolean;
}

export interface RunRecord {
  readonly emit: (event: RunEvent) => void;
  /** Writes the reports. False where something that was asked for could not be written; that has been said. */
  finish(): Promise<boolean>;
  /** Writes all of a run that goes on, so that it is there when it is killed. What cannot be written is said at the end. */
  interim(events: readonly RunEvent[]): Promise<void>;
  /** Whether `lossproof report` can show this run. */
  isKept(): boolean;
  close(): void;
}

export interface RecordPlan {
  /** Where the run is kept, too; default: as the last run. */
  readonly keeping?: Keeping;
  readonly instead?: Renderers;
  /** Absolute: the file of the run that this one goes on with, which it is written behind. */
  readonly resumed?: string;
}

/** Every file that is named is proved writable, and not to be written by another run. */
export function openRecord(
  options: RecordOptions,
  context: Context,
  { keeping = AS_LAST_RUN, instead = {}, resumed }: RecordPlan = {},
): RunRecord | Problem {
  const outputs = openOutputs(options, context, instead);
  if (isProblem(outputs)) return outputs;
  if (outputs.onStandardOutput)
    return { problem: 'standard output has the table of the run; name a file instead of -' };
  const { events: file } = options;
  const path = file === undefined ? undefined : resolve(context.cwd, file);
  // What is kept in that very file is written once.
  const own = path === resolve(context.cwd, keeping.file) ? undefined : path;
  if (own !== undefined && dirname(own) === resolve(context.cwd, SHARDS_FOLDER))
    return {
      problem: `--events: in ${SHARDS_FOLDER}, ${file} would be taken for a part of a run; name another folder`,
    };
  const isResumed = (path: string): { readonly append: boolean } => ({ append: path === resumed });
  const kept = openKept({ ...keeping, ...isResumed(resolve(context.cwd, keeping.file)) }, context);
  if (isProblem(kept)) return kept;
  const claimed = own === undefined ? undefined : lock(own);
  if (claimed !== undefined && 'held' in claimed) {
    kept.close();
    return { problem: `--events: ${file} ${claimed.held}; name another file, or wait for it` };
  }
  const events: RunEvent[] = [];
  const asked =
    own === undefined
      ? undefined
      : openEventFile(own, (why) => complain(context, `--events: ${file} ${why}`), isResumed(own));
  // Also where the command throws and closes the record: it is told by who ends the process.
  const settled = context.atCrash?.(async () => {
    for (const problem of await outputs.write(runsOf(events), 'events')) complain(context, problem);
  });
  return {
    emit(event) {
      if (event.type !== 'progress' && event.type !== 'shrinking') events.push(event);
      kept.emit(event);
      asked?.emit(event);
    },
    async finish() {
      settled?.();
      const runs = runsOf(events);
      // Its events were written as they came.
      const problems = await outputs.write(runs, 'events');
      for (const problem of problems) complain(context, problem);
      if (options.annotations) await tellGithub(runs, context);
      await tellWebhook(runs, options, context);
      return problems.length === 0 && asked?.trouble() === undefined;
    },
    async interim(soFar) {
      rememberSoFar(context, soFar);
      await outputs.write(runsOf(soFar));
    },
    isKept: () => kept.trouble() === undefined,
    close() {
      kept.close();
      asked?.close();
      claimed?.release();
    },
  };
}

function complain(context: Context, what: string): void {
  context.err.write(`lossproof: ${what}\n`);
}
