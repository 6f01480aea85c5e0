// The runs of a twin: each in a folder of its own, one after the other, and what each recorded.
import { join, resolve } from 'node:path';
import { makeFolders } from '../../outside/folder.ts';
import { type TwinRun, twinRunOf } from '../../twin/run.ts';
import type { Context, Problem } from '../context.ts';
import { hasTrace, readTraceFolder, recordedTokenizer } from '../trace/folder.ts';
import { endWords, runScript, startProblem } from '../trace/script.ts';
import { joinCommand } from '../trainer/words.ts';
import { type Failure, failureOf, lastLines } from './failure.ts';

export interface RunAsk {
  /** Names the run, and its folder within `folder`. */
  readonly name: string;
  readonly folder: string;
  readonly command: readonly string[];
  /** Optimiser steps before it is ended; 0: it runs to its own end. */
  readonly steps: number;
  /** Further steps where the script can go on from a checkpoint by itself. */
  readonly more?: number;
  /** One of CHANGES, made by the tracer. */
  readonly change?: string;
  readonly noise?: boolean;
  /** The type that autocast rounds to: noise is of its size, and another precision is float32. */
  readonly half?: string;
  /** The signs of gradients are written, too. */
  readonly signs?: boolean;
  readonly dropout?: boolean;
  /** What it saves goes where the script says: a later run goes on from it. */
  readonly keeps?: boolean;
  /** Where the changes `save` and `resume` have their checkpoint, and the step after which it is made. */
  readonly checkpoint?: string;
  readonly at?: number;
}

export interface Ran {
  readonly run: TwinRun;
  /** The script failed by itself. */
  readonly failure?: Failure;
}

/** Why nothing more can be run. */
export interface Stop extends Problem {
  /** What the script wrote to stderr last. */
  readonly lines?: readonly string[];
}

export type Attempt = Ran | Stop | 'interrupted';

/** In a command: the run's own folder. */
const OWN_FOLDER = '{run}';
/** What the script compiles runs as it is written in all runs but that of this change. */
const COMPILE = 'compile';

export async function runTwin(ask: RunAsk, context: Context): Promise<Attempt> {
  const folder = join(ask.folder, ask.name);
  const { change, noise, half, signs, more, dropout, keeps, checkpoint, at } = ask;
  const asked = { change, noise, half, signs, more, dropout, keeps, checkpoint, at };
  const place = resolve(context.cwd, folder);
  makeFolders(place);
  const command = ask.command.map((word) => word.replaceAll(OWN_FOLDER, place));
  const { exit, interrupted } = await runScript(
    {
      command,
      folder,
      steps: ask.steps,
      mode: 'auto',
      silent: true,
      compiled: change === COMPILE,
      env: { PYTHONHASHSEED: '0', LOSSPROOF_TWIN: JSON.stringify(asked) },
    },
    context,
  );
  if (interrupted) return 'interrupted';
  if (exit.spawnError !== undefined) return { problem: startProblem(command, exit.spawnError, context.cwd) };
  if (!hasTrace(folder, context))
    return {
      problem: `${joinCommand(command)} ended (${endWords(exit)}), and no Python process of it was seen`,
      lines: lastLines(place),
    };
  const files = readTraceFolder(folder, context);
  if ('problem' in files) return files;
  const run = twinRunOf(files.processes, recordedTokenizer(files, context).tokenizer);
  const failure = failureOf(run.ledger, exit, { cwd: context.cwd, env: context.env, folder });
  return { run, ...(failure === undefined ? {} : { failure }) };
}
