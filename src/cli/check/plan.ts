// What is meant before anything is started: options, configuration and the choice of a trainer, together.
import { resolve } from 'node:path';
import { type LoadedConfig, loadConfig } from '../config/config.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { chooseTrainer, type Otherwise, type TrainerChoice } from '../trainer/trainer.ts';

/** The options of every command that starts a trainer. */
export interface TrainerOptions {
  readonly adapter?: string;
  readonly python?: string;
  readonly tokenizer?: string;
  readonly config?: string;
  readonly opTimeout?: number;
  readonly helloTimeout?: number;
  /** A fresh process after so many requests, */
  readonly renewAfter?: number;
  /** or above so many GB of memory. */
  readonly renewAbove?: number;
  /** The bundled example is meant, whatever the configuration names. */
  readonly bundled?: boolean;
}

export interface Plan {
  readonly options: TrainerOptions;
  readonly loaded: LoadedConfig | undefined;
  readonly choice: TrainerChoice;
  /** Absolute, where the user names a tokenizer; it wins over the one that the trainer declares. */
  readonly tokenizer: string | undefined;
  /** Variables of each worker's own, the first one's first; absent: all have those of this process. */
  readonly environments?: readonly Readonly<Record<string, string>>[];
}

/**
 * Reads the configuration and chooses the trainer; `command` are the words behind `--`. What the configuration says is
 * said of the user's trainer: for the bundled example it is not read. Where nothing names one, `otherwise` is meant.
 */
export async function makePlan(
  options: TrainerOptions,
  command: readonly string[],
  place: Pick<Context, 'cwd' | 'env'>,
  otherwise?: Otherwise,
): Promise<Plan | Problem> {
  const { bundled = false } = options;
  if (bundled && options.config !== undefined)
    return { problem: '--config is about your trainer, and --bundled is about another; say one of them' };
  const named = options.config === undefined ? undefined : resolve(place.cwd, options.config);
  const loaded = bundled ? undefined : await loadConfig(place.cwd, named);
  if (loaded !== undefined && isProblem(loaded)) return loaded;
  const tokenizer = namedTokenizer(options, loaded, place.cwd);
  const { adapter, python } = options;
  const choice = chooseTrainer({ command, adapter, python, tokenizer, bundled }, loaded, place, otherwise);
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
