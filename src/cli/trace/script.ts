// The user's own command with the tracer in its environment: what of it is told the tracer, what Ctrl-C means, and what is
// said where it could not be started.
import { closeSync, openSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { pace } from '../../bounds.ts';
import { type ChildExit, startAttached } from '../../trainer/child.ts';
import { PYTHON_FOLDER } from '../../version.ts';
import type { Context } from '../context.ts';
import { INTERRUPTED } from '../exit.ts';
import { environmentTrouble } from '../trainer/environment.ts';

/** What a script wrote that is silent. */
export const STDOUT_FILE = 'stdout.txt';
export const STDERR_FILE = 'stderr.txt';

export interface ScriptAsk {
  readonly command: readonly string[];
  /** Where the processes write, from the working directory. */
  readonly folder: string;
  /** Optimiser steps before the script is ended; 0: it is not. */
  readonly steps: number;
  readonly mode: 'auto' | 'exact' | 'cheap';
  /** What torch.compile is called on runs compiled. */
  readonly compiled?: boolean | undefined;
  /** Each tensor is moved along its gradient, and the loss computed again. */
  readonly slopes?: boolean | undefined;
  /** What it says is not shown, and kept in the folder. */
  readonly silent?: boolean;
  /** For the script itself. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ScriptEnd {
  readonly exit: ChildExit;
  /** By Ctrl-C. */
  readonly interrupted: boolean;
}

/**
 * Runs it with our terminal, and waits for its end. The first Ctrl-C is the script's own affair: it ends as it would by
 * itself. A second one kills it; what was recorded until then is there all the same. A third leaves at once.
 */
export async function runScript(ask: ScriptAsk, context: Context): Promise<ScriptEnd> {
  const path = resolve(context.cwd, ask.folder);
  const [stdout, stderr] =
    ask.silent === true ? [STDOUT_FILE, STDERR_FILE].map((name) => openSync(join(path, name), 'a')) : [];
  const script = startAttached({
    command: ask.command,
    cwd: context.cwd,
    env: { ...ask.env, ...tracedEnvironment(ask, context) },
    ...(stdout === undefined || stderr === undefined ? {} : { into: [stdout, stderr] }),
  });
  let presses = 0;
  let last = Number.NEGATIVE_INFINITY;
  const dispose = context.onInterrupt(() => {
    const now = performance.now();
    // npx passes on what the terminal has sent us already: that is one Ctrl-C.
    if (now - last < ONE_PRESS_MILLISECONDS) return;
    last = now;
    presses++;
    if (presses === 1) script.interrupt();
    else if (presses === 2) script.kill();
    else context.exitNow(INTERRUPTED);
  });
  try {
    const exit = await script.exited;
    return { exit, interrupted: presses > 0 };
  } finally {
    dispose();
    for (const descriptor of [stdout, stderr]) if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Why a command could not be started, with what to do. */
export function startProblem(command: readonly string[], code: string, cwd: string): string {
  const [file = ''] = command;
  const trouble = code === 'ENOENT' ? environmentTrouble(command, cwd) : undefined;
  if (trouble !== undefined) return `${trouble.message} ${trouble.advice}`;
  const name = JSON.stringify(file);
  if (code === 'EACCES')
    return `${name} is not executable; a Python script is run by \`lossproof trace -- python ${file}\``;
  if (code !== 'ENOENT') return `${name} could not be started: ${code}`;
  if (/\s/.test(file))
    return `there is no command ${name}; write it after --, without quotes: \`lossproof trace -- ${file}\``;
  if (/\.py$/.test(file))
    return `there is no command ${name}; a Python script is run by \`lossproof trace -- python ${command.join(' ')}\``;
  if (file === 'python')
    return 'there is no command "python"; activate the environment that the script is run in, or try python3';
  return `there is no command ${name}; is the environment active that the script is run in?`;
}

/** How it ended, for a sentence: `exit code 1`, `killed by SIGKILL`. */
export function endWords({ exitCode, signal }: ChildExit): string {
  return signal === undefined ? `exit code ${exitCode ?? 0}` : `killed by ${signal}`;
}

// --- helpers ---

/** Presses that are closer together than a hand can make them. */
const ONE_PRESS_MILLISECONDS = pace(300);

/** Holds `sitecustomize`, which every Python runs before anything else, and the package that it starts. */
const BOOTSTRAP = join(PYTHON_FOLDER, 'lossproof_trace', 'bootstrap');

function tracedEnvironment(
  { folder, steps, mode, compiled, slopes }: ScriptAsk,
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
): Record<string, string> {
  const before = env.PYTHONPATH === undefined || env.PYTHONPATH === '' ? [] : [env.PYTHONPATH];
  return {
    PYTHONPATH: [BOOTSTRAP, PYTHON_FOLDER, ...before].join(delimiter),
    LOSSPROOF_TRACE: resolve(cwd, folder),
    LOSSPROOF_TRACE_STEPS: String(steps),
    LOSSPROOF_TRACE_MODE: mode,
    LOSSPROOF_TRACE_COMPILED: compiled === true ? '1' : '0',
    LOSSPROOF_TRACE_SLOPES: slopes === true ? '1' : '0',
  };
}
