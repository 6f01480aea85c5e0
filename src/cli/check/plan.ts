// What is meant before anything is started: options, configuration and the choice of a trainer, together.
import { resolve } from 'node:path';
import { type LoadedConfig, loadConfig } from '../config/config.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { chooseTrainer, type TrainerChoice } from '../trainer/trainer.ts';

/** The options of every command that starts a trainer. */
export interface TrainerOptions {
  readonly adapter?: string;
  readonly python?: string;
  readonly tokenizer?: string;
  readonly config?: string;
  readonly opTimeout?: number;
  readonly helloTimeout?: number;
}

export interface Plan {
  readonly options: TrainerOptions;
  readonly loaded: LoadedConfig | undefined;
  readonly choice: TrainerChoice;
  /** Absolute, where the user names a tokenizer; it wins over the one that the trainer declares. */
  readonly tokenizer: string | undefined;
}

/** Reads the configuration and chooses the trainer; `command` are the words behind `--`. */
export async function makePlan(
  options: TrainerOptions,
  command: readonly string[],
  place: Pick<Context, 'cwd' | 'env'>,
): Promise<Plan | Problem> {
  const named = options.config === undefined ? undefined : resolve(place.cwd, options.config);
  const loaded = await loadConfig(place.cwd, named);
  if (loaded !== undefined && isProblem(loaded)) return loaded;
  const tokenizer = namedTokenizer(options, loaded, place.cwd);
  const { adapter, python } = options;
  const choice = chooseTrainer({ command, adapter, python, tokenizer }, loaded, place);
  return isProblem(choice) ? choice : { options, loaded, choice, tokenizer };
}

/** Absolute: what is typed, or what is written in the configuration, from where that lies. */
export function namedTokenizer(
  options: Pick<TrainerOptions, 'tokenizer'>,
  loaded: LoadedConfig | undefined,
  cwd: string,
): string | undefined {
  if (options.tokenizer !== undefined) return resolve(cwd, options.tokenizer);
  const written = loaded?.config.tokenizer;
  return written === undefined || loaded === undefined ? undefined : resolve(loaded.folder, written);
}
