// What check, replay, list and doctor have in common: a configuration, a trainer that said hello, a tokenizer.
import { resolve } from 'node:path';
import { choosePaint } from '../report/paint.ts';
import type { Replay } from '../report/reproduce.ts';
import { troubleLines } from '../report/trouble.ts';
import { loadTokenizer } from '../tokenizers/load.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Semantics } from '../vocabulary.ts';
import { type LoadedConfig, loadConfig } from './config.ts';
import { type Context, isProblem, type Problem, say } from './context.ts';
import { NO_VERDICT } from './exit.ts';
import { type Interrupts, watchInterrupts } from './interrupt.ts';
import {
  chooseTrainer,
  commandOf,
  type Deadlines,
  pipeLine,
  startChosen,
  type TrainerChoice,
} from './trainer.ts';

/** The options of every command that starts a trainer. */
export interface TrainerOptions {
  readonly adapter?: string;
  readonly python?: string;
  readonly tokenizer?: string;
  readonly config?: string;
  readonly opTimeout?: number;
  readonly helloTimeout?: number;
}

export interface Session {
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
  readonly semantics: Semantics | undefined;
  readonly choice: TrainerChoice;
  readonly interrupts: Interrupts;
}

/** The configuration that `--config` names or that lies upward of the working directory. */
export function configFor(
  options: TrainerOptions,
  context: Context,
): Promise<LoadedConfig | Problem | undefined> {
  return loadConfig(
    context.cwd,
    options.config === undefined ? undefined : resolve(context.cwd, options.config),
  );
}

/** The trainer that the options mean, with a word where nobody named one. */
export function choiceFor(
  options: TrainerOptions,
  command: readonly string[],
  loaded: LoadedConfig | undefined,
  context: Context,
): TrainerChoice | Problem {
  const tokenizer = namedTokenizer(options, loaded, context);
  return chooseTrainer(
    { command, adapter: options.adapter, python: options.python, tokenizer },
    loaded,
    context,
  );
}

/**
 * Starts the trainer, loads the tokenizer, runs `work`, and stops the trainer whatever happens.
 * @returns the exit code of `work`, or 2 where the trainer never started or the tokenizer cannot be read.
 */
export async function withSession(
  choice: TrainerChoice,
  options: TrainerOptions,
  loaded: LoadedConfig | undefined,
  context: Context,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const interrupts = watchInterrupts(context);
  try {
    const started = await startChosen(choice, deadlinesOf(options, loaded));
    if ('failure' in started) return refuseStart(started.failure, choice, context);
    const { trainer } = started;
    interrupts.begin();
    try {
      const tokenizer = await tokenizerFor(options, loaded, trainer, choice, context);
      if (tokenizer !== undefined && isProblem(tokenizer)) {
        context.err.write(`trainproof: ${tokenizer.problem}\n`);
        return NO_VERDICT;
      }
      return await work({ trainer, tokenizer, semantics: loaded?.config.semantics, choice, interrupts });
    } finally {
      await trainer.stop();
    }
  } finally {
    interrupts.dispose();
  }
}

/** How a failure of this trainer is seen again from this folder. */
export function replayOf(choice: TrainerChoice, context: Context, kept: boolean): Replay {
  const adapter = pipeLine(choice, context);
  return {
    command: 'npx trainproof replay',
    ...(adapter === undefined ? {} : { adapter }),
    ...(kept ? { folder: CASES_FOLDER } : {}),
  };
}

/** Under the working directory. */
export const CASES_FOLDER = '.trainproof/cases';

/** Said before a run that nobody named a trainer for. */
export function sayBundled(choice: TrainerChoice, context: Context): void {
  if (choice.from === 'bundled')
    say(context, `no trainer named: checking the bundled example (${commandOf(choice)})`);
}

/** Narrower than this nothing can be aligned; wider, lines are hard to follow. */
const LEAST_WIDTH = 40;
const MOST_WIDTH = 160;

export function widthOfScreen(context: Context): number {
  return Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, context.out.columns));
}

function deadlinesOf(options: TrainerOptions, loaded: LoadedConfig | undefined): Deadlines {
  const hello = options.helloTimeout ?? loaded?.config.helloTimeout;
  const op = options.opTimeout ?? loaded?.config.opTimeout;
  return {
    ...(hello === undefined ? {} : { helloMilliseconds: hello * 1_000 }),
    ...(op === undefined ? {} : { opMilliseconds: op * 1_000 }),
  };
}

async function tokenizerFor(
  options: TrainerOptions,
  loaded: LoadedConfig | undefined,
  trainer: Trainer,
  choice: TrainerChoice,
  context: Context,
): Promise<Tokenizer | Problem | undefined> {
  const declared = trainer.hello.tokenizer;
  const base = choice.kind === 'command' ? choice.cwd : context.cwd;
  const folder =
    namedTokenizer(options, loaded, context) ??
    (declared === undefined ? undefined : resolve(base, declared));
  if (folder === undefined) return undefined;
  const backend = loaded?.config.tokenizerBackend;
  const result = await loadTokenizer(folder, backend === undefined ? {} : { backend });
  return 'problem' in result ? { problem: result.problem } : result.tokenizer;
}

/** The folder that the user names; it wins over the one that the trainer declares. */
function namedTokenizer(
  options: TrainerOptions,
  loaded: LoadedConfig | undefined,
  context: Context,
): string | undefined {
  if (options.tokenizer !== undefined) return resolve(context.cwd, options.tokenizer);
  const written = loaded?.config.tokenizer;
  return written === undefined || loaded === undefined ? undefined : resolve(loaded.folder, written);
}

function refuseStart(failure: TrainerFailure, choice: TrainerChoice, context: Context): number {
  const paint = choosePaint(context.err.isTty, context.env);
  const width = widthOfScreen(context);
  const text = [`trainproof: ${nameOf(choice)} did not start`, ...troubleLines(failure, { width, paint })];
  context.err.write(`${text.join('\n')}\n`);
  return NO_VERDICT;
}

function nameOf(choice: TrainerChoice): string {
  return choice.kind === 'object' ? `the trainer of ${choice.file}` : commandOf(choice);
}
