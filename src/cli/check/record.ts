// What a run of `check` leaves behind: its events while it goes on, its reports when it has ended, also where it was
// interrupted.
import { resolve } from 'node:path';
import type { RunEvent } from '../../check/events.ts';
import { runsOf } from '../../report/runs.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { openEventFile } from '../outputs/event-file.ts';
import { tellGithub } from '../outputs/github.ts';
import { openLastRun, rememberSoFar } from '../outputs/last-run.ts';
import { type OutputOptions, openOutputs, type Renderers } from '../outputs/outputs.ts';

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

/** `kept`: the events go to the folder of saved cases, too. Every file that is named is proved writable. */
export function openRecord(
  options: RecordOptions,
  kept: boolean,
  context: Context,
  instead: Renderers = {},
): RunRecord | Problem {
  const outputs = openOutputs(options, context, instead);
  if (isProblem(outputs)) return outputs;
  if (outputs.onStandardOutput)
    return { problem: 'standard output has the table of the run; name a file instead of -' };
  const { events: file } = options;
  const events: RunEvent[] = [];
  const lastRun = kept ? openLastRun(context) : undefined;
  const asked =
    file === undefined
      ? undefined
      : openEventFile(resolve(context.cwd, file), (why) => complain(context, `--events: ${file} ${why}`));
  return {
    emit(event) {
      if (event.type !== 'progress' && event.type !== 'shrinking') events.push(event);
      lastRun?.emit(event);
      asked?.emit(event);
    },
    async finish() {
      const runs = runsOf(events);
      // Its events were written as they came.
      const problems = await outputs.write(runs, 'events');
      for (const problem of problems) complain(context, problem);
      if (options.annotations) await tellGithub(runs, context);
      return problems.length === 0 && asked?.problem() === undefined;
    },
    async interim(soFar) {
      if (kept) rememberSoFar(context, soFar);
      await outputs.write(runsOf(soFar));
    },
    isKept: () => lastRun !== undefined && lastRun.problem() === undefined,
    close() {
      lastRun?.close();
      asked?.close();
    },
  };
}

function complain(context: Context, what: string): void {
  context.err.write(`lossproof: ${what}\n`);
}
