// What a trainer's configuration says about rows: which data, which tokenizer, and how a row is made of them.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Making } from '../making.ts';
import type { TrainOn } from '../row.ts';
import type { Problem, SettingFault } from './fault.ts';
import type { ConfigFile } from './file.ts';
import type { Read } from './installed.ts';
import type { KnownName } from './known.ts';

export interface Plan {
  /** With its version: `TRL 1.13.0 (trl sft)`. */
  readonly title: string;
  /** Files, as the configuration names them, from where the training is started. */
  readonly data: readonly string[];
  /** A folder, as the configuration names it. */
  readonly tokenizer?: string;
  /** A file with a chat template, the folder of a tokenizer that has one, or the template itself. */
  readonly template?: { readonly file: string } | { readonly folder: string } | { readonly source: string };
  /** Of the options on the command line, those that cannot stand in for this configuration, each with why. */
  readonly refuses?: { readonly template?: string };
  /** The file that a script names, where its keys are from there. */
  readonly from?: string;
  /** What was read, as `max_length 512`. */
  readonly read: readonly string[];
  readonly faults: readonly SettingFault[];
  /** Where the installed trainer can be asked: what its rows are compared by. */
  readonly compared?: Read;
  readonly open: (seen: Seen) => Opened | Problem;
}

/** What is known when the data and the tokenizer are there. */
export interface Seen {
  /** Of each file, the keys that any of its rows has: `datasets` gives each row all of them. */
  readonly columns: readonly ReadonlySet<string>[];
  /** The first row of all: TRL looks at it alone where it asks what a data set is. */
  readonly first: unknown;
  readonly tokenizer: Tokenizer;
  /** The chat template that rows are rendered with. */
  readonly template?: string;
  /** --template was typed. */
  readonly templateTyped: boolean;
  /** The installed trainer has made every row: the rules need not. */
  readonly allOwn?: boolean;
  /** Tokenizer of the configuration's template folder. */
  readonly cloned?: Tokenizer;
  /** --train-on and --max-length, which win. */
  readonly trainOn?: TrainOn;
  readonly maxLength?: number;
}

export interface Opened {
  readonly settings: Partial<Making>;
  readonly faults: readonly SettingFault[];
  /** The rules do not make these rows, as `allOwn` lets them. */
  readonly unruled?: boolean;
  /** When all rows have been seen. */
  readonly after: () => After;
}

export interface After {
  /** What a row has that these rules do not make: then nothing is said of the rows. */
  readonly unsupported?: string;
  readonly faults: readonly SettingFault[];
}

/** Reads the files of one trainer. */
export interface Reader {
  readonly known: KnownName;
  readonly plan: (config: ConfigFile, host: Host) => Plan | Problem;
}

/** What a reader may look at. */
export interface Host {
  /** Rows were named on the command line: those of the configuration are not read. */
  readonly dataTyped: boolean;
  /** What a path is, from where the training is started. */
  readonly kindOf: (path: string) => 'file' | 'folder' | undefined;
  /** Names in a folder. */
  readonly namesIn: (path: string) => readonly string[];
  readonly readText: (path: string) => { readonly ok: string } | { readonly complaint: string };
  readonly readJson: (path: string) => { readonly ok: unknown } | { readonly complaint: string };
}
