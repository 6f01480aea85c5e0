// What a configuration may hold, as users import it: types and nothing that loads anything. config/keys.ts is the table
// behind it; a test holds that both say the same, down to these comments.
import type { ObjectTrainerSpec } from '../../trainer/object.ts';
import type { Level, Semantics } from '../../vocabulary.ts';

/** Gives a configuration its type; returns it unchanged. */
export function defineConfig(config: Config): Config {
  return config;
}

/** What is said of one trainer. */
export interface TrainerConfig {
  /** A command as one string or as words, run in the configuration's folder; or a trainer in this process. */
  readonly trainer?: string | readonly string[] | ObjectTrainerSpec;
  /** A ready-made adapter instead, by its name: `trl-grpo`, `verl`. */
  readonly adapter?: string;
  /** The Python that runs a ready-made adapter. */
  readonly python?: string;
  /** Folder with tokenizer.json. */
  readonly tokenizer?: string;
  /** The library that reads it; `xenova` needs @xenova/transformers. */
  readonly tokenizerBackend?: 'huggingface' | 'xenova';
  /** Merged over what the trainer declares. */
  readonly semantics?: Semantics;
  /** Cases per property. */
  readonly cases?: number;
  /** Properties up to this level. */
  readonly level?: Level;
  /** Property ids, folders or globs. */
  readonly only?: string | readonly string[];
  /** File of known failures. */
  readonly known?: string;
  /** Seconds for one answer. */
  readonly opTimeout?: number;
  /** Seconds for the first answer, imports included. */
  readonly helloTimeout?: number;
}

export type MatrixValue = string | number | boolean;

export interface Config extends TrainerConfig {
  /** Where an editor finds the JSON Schema of the file. Not read by lossproof. */
  readonly $schema?: string;
  /** Several trainers by name, each with keys of its own over those that stand beside this one. */
  readonly trainers?: Readonly<Record<string, TrainerConfig>>;
  /** Every combination of these: a key of a trainer, or a name that stands as `{name}` in its texts. */
  readonly matrix?: Readonly<Record<string, readonly MatrixValue[]>>;
  /** Combinations that make no sense, by as many of their values as it takes. */
  readonly exclude?: readonly Readonly<Record<string, MatrixValue>>[];
  /** Keep failing cases in .lossproof/ and run them first. */
  readonly corpus?: boolean;
  /** The logs that `lossproof monitor` reads, and the settings of its rules. */
  readonly monitor?: MonitorConfig;
}

export interface MonitorConfig {
  /** Files, folders or globs, from the configuration's folder. */
  readonly paths?: string | readonly string[];
  /** JSON lines of prompts and completions. */
  readonly rollouts?: string | readonly string[];
  /** Runs that are known to be healthy, to judge beside. */
  readonly baseline?: string | readonly string[];
  /** Rules and settings that belong together: `grpo`, `tools`, `zero-loss`. */
  readonly preset?: string;
  /** Settings of rules, as `--set` has them. */
  readonly set?: Readonly<Record<string, string | number | boolean>>;
  /** Series to role, or to `none`. */
  readonly series?: Readonly<Record<string, string>>;
  /** Facts that the run does not log. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
  /** Losses that must be logged, and not as 0. */
  readonly expect?: readonly string[];
  /** Rule ids or globs. */
  readonly only?: string | readonly string[];
  /** Rules up to this level. */
  readonly level?: Level;
  /** File of known failures. */
  readonly known?: string;
}
