// Option values and the options that several commands share. Parsers refuse in one sentence.

import { type Command, InvalidArgumentError } from 'commander';
import { BACKENDS, type BackendName } from '../kernel/index.ts';
import { nearestName } from '../protocol/nearest.ts';
import { LEVELS, type Level } from '../vocabulary.ts';
import { MOST_SECONDS } from './config/key.ts';
import { type Context, whyOf } from './context.ts';
import { freshSeed, MOST_SEED, readSeed } from './seed.ts';
import { ADAPTER_NAMES } from './trainer/adapters.ts';

/** What a command is called with, besides its own options. */
export interface Invocation {
  readonly context: Context;
  /** The words behind `--`: the trainer's command. */
  readonly rest: readonly string[];
  /** Takes the exit code. */
  readonly finish: (code: number) => void;
}

/** The trainer and how to talk to it; every command that starts one has these alike. */
export function addTrainerOptions(command: Command): Command {
  return command
    .optionsGroup('The trainer:')
    .option(
      '--trainer <name>',
      'a trainer of the configuration, by name or glob; repeatable if the command takes several',
      collect,
    )
    .option('--adapter <name>', `a ready-made adapter: ${ADAPTER_NAMES.join(', ')}`)
    .option('--bundled', 'use the bundled example; no configuration is read')
    .option('--python <path>', 'Python that runs it (default: the active environment, ./.venv, or python3)')
    .option('--tokenizer <dir>', 'folder with tokenizer.json')
    .option(
      '--config <file>',
      'configuration (default: lossproof.config.* here or in a parent folder of the project)',
    )
    .option('--op-timeout <seconds>', 'longest wait for one answer', seconds)
    .option('--hello-timeout <seconds>', 'longest wait for the first answer, imports included', seconds);
}

export function wholePositive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0)
    throw new InvalidArgumentError('It must be a whole number from 0.');
  return value;
}

export function seedNumber(text: string): number {
  const seed = readSeed(text);
  if (seed === undefined) throw new InvalidArgumentError(`It must be a whole number from 0 to ${MOST_SEED}.`);
  return seed;
}

/** What --seed is for, in help. */
export const SEED_WORDS = 'seed of the cases (default: LOSSPROOF_SEED or new)';

/** The seed of a command without --seed, as an error of the command line where LOSSPROOF_SEED is none. */
export function seedOfEnvironment(env: Context['env']): number {
  try {
    return freshSeed(env);
  } catch (error) {
    throw new InvalidArgumentError(whyOf(error));
  }
}

export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

/** A wait that a timer can hold: beyond 24 days the engine's fire at once. */
export function seconds(text: string): number {
  const value = positive(text);
  if (value > MOST_SECONDS)
    throw new InvalidArgumentError(`It must be at most ${MOST_SECONDS.toLocaleString('en')} seconds.`);
  return value;
}

export function levelName(text: string): Level {
  const level = LEVELS.find((name) => name === text);
  if (level !== undefined) return level;
  const near = nearestName(text, LEVELS);
  throw new InvalidArgumentError(
    near === undefined ? 'Levels are must, should and may.' : `Did you mean "${near}"?`,
  );
}

export function backendName(text: string): BackendName | 'auto' {
  const known = ['auto', ...BACKENDS] as const;
  const name = known.find((each) => each === text);
  if (name !== undefined) return name;
  throw new InvalidArgumentError(`Backends are ${known.join(', ')}.`);
}

export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
