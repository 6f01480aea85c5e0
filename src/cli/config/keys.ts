// Every key of a configuration, once: the parser (complaint.ts), docs/config.schema.json and docs/configuration.md
// (scripts/docs) are all made of this table, and the compiler holds it to the types of define.ts.
import { SEMANTICS_RULE } from '../../protocol/hello.ts';
import {
  amount,
  atLeast,
  eitherOf,
  filled,
  flag,
  having,
  number,
  oneOf,
  type Rule,
  record,
  recordOf,
  someOf,
  text,
} from '../../protocol/rules.ts';
import type { ObjectTrainerSpec } from '../../trainer/object.ts';
import { HELLO_MILLISECONDS, OP_MILLISECONDS } from '../../trainer/process.ts';
import { LEVELS } from '../../vocabulary.ts';
import type { Config, MonitorConfig } from './define.ts';

export interface ConfigKey<T = unknown> {
  readonly rule: Rule<T>;
  /** What the value must be, in words: `"cases" must be ...`. */
  readonly must: string;
  /** What it is for, as the comment in define.ts has it. */
  readonly description: string;
  /** What holds where the key is absent: the value, or words where there is no such value. */
  readonly default?: T;
  readonly without?: string;
  readonly example: T;
  /** The rule tells which part of the value is wrong, better than `must`. */
  readonly detailed?: true;
  /** Of an object: its keys. */
  readonly keys?: Readonly<Record<string, ConfigKey>>;
}

/** Screens a property in well under a second on a plain trainer, and meets every label's threshold. */
export const DEFAULT_CASES = 100;

type KeysOf<T> = { readonly [K in keyof T]-?: ConfigKey<Exclude<T[K], undefined>> };

const LEVEL = oneOf(...LEVELS);
const LEVEL_WORDS = '"must", "should" or "may"';
const NAMES = eitherOf<string | readonly string[]>(filled, someOf(filled));
const SETTINGS = recordOf(eitherOf<string | number | boolean>(text, number, flag));
const SECONDS = 'seconds above 0';
const TEXTS = 'a text or a list of texts';

export const MONITOR_KEYS = {
  paths: {
    rule: NAMES,
    must: TEXTS,
    description: "Files, folders or globs, from the configuration's folder.",
    example: ['runs/'],
  },
  rollouts: {
    rule: NAMES,
    must: TEXTS,
    description: 'JSON lines of prompts and completions.',
    example: 'rollouts/*.jsonl',
  },
  baseline: {
    rule: NAMES,
    must: TEXTS,
    description: 'Runs that are known to be healthy, to judge beside.',
    example: 'runs/good',
  },
  preset: {
    rule: filled,
    must: 'the name of a preset',
    description: 'Rules and settings that belong together: `grpo`, `tools`, `zero-loss`.',
    example: 'grpo',
  },
  set: {
    rule: SETTINGS,
    must: 'an object such as { "kl-spike.times": 30 }',
    description: 'Settings of rules, as `--set` has them.',
    example: { 'kl-spike.times': 30 },
  },
  series: {
    rule: recordOf(text),
    must: 'an object such as { "my_kl": "kl" }',
    description: 'Series to role, or to `none`.',
    example: { my_kl: 'kl' },
  },
  facts: {
    rule: SETTINGS,
    must: 'an object such as { "max_completion_length": 512 }',
    description: 'What the run does not log of itself.',
    example: { max_completion_length: 512 },
  },
  expect: {
    rule: someOf(filled),
    must: 'a list of losses',
    description: 'Losses that must be logged, and not as 0.',
    example: ['sft_loss'],
  },
  only: {
    rule: NAMES,
    must: TEXTS,
    description: 'Rule ids or globs.',
    without: 'all',
    example: 'monitor/kl-*',
  },
  level: {
    rule: LEVEL,
    must: LEVEL_WORDS,
    description: 'Rules up to this level.',
    default: 'should',
    example: 'must',
  },
  known: {
    rule: filled,
    must: 'a file of known failures',
    description: 'File of known failures.',
    example: 'known-in-logs.json',
  },
} as const satisfies KeysOf<MonitorConfig>;

export const CONFIG_KEYS = {
  $schema: {
    rule: text,
    must: 'the address of a JSON Schema',
    description: 'Where an editor finds the JSON Schema of the file. Not read by lossproof.',
    example: './node_modules/lossproof/docs/config.schema.json',
  },
  trainer: {
    rule: eitherOf<string | readonly string[] | ObjectTrainerSpec>(
      filled,
      someOf(filled),
      having<ObjectTrainerSpec>('hello', 'ops'),
    ),
    must: 'a command (text or list of words) or an object with hello and ops',
    description:
      "A command as one string or as words, run in the configuration's folder; or a trainer in this process.",
    without: '`LOSSPROOF_TRAINER` of the environment',
    example: 'python3 adapter.py',
  },
  adapter: {
    rule: filled,
    must: 'the name of a ready-made adapter',
    description: 'A ready-made adapter instead: `trl-dpo`, `trl-grpo`, `trl-sft`.',
    example: 'trl-grpo',
  },
  python: {
    rule: filled,
    must: 'a path or name of a Python',
    description: 'The Python that runs a ready-made adapter.',
    without: 'that of the active environment or of `.venv`, else `python3`',
    example: '.venv/bin/python',
  },
  tokenizer: {
    rule: filled,
    must: 'a folder with tokenizer.json',
    description: 'Folder with tokenizer.json.',
    without: 'the one that the trainer declares',
    example: 'models/tokenizer',
  },
  tokenizerBackend: {
    rule: oneOf('huggingface', 'xenova'),
    must: '"huggingface" or "xenova"',
    description: 'What reads it; `xenova` needs @xenova/transformers.',
    default: 'huggingface',
    example: 'huggingface',
  },
  semantics: {
    rule: SEMANTICS_RULE,
    must: 'an object of semantics, as in PROTOCOL.md',
    description: 'Merged over what the trainer declares.',
    without: 'what the trainer declares',
    example: { kl_estimator: 'k3', advantage_ddof: 1 },
    detailed: true,
  },
  cases: {
    rule: atLeast(1),
    must: 'a whole number above 0',
    description: 'Cases a property.',
    default: DEFAULT_CASES,
    example: 200,
  },
  level: {
    rule: LEVEL,
    must: LEVEL_WORDS,
    description: 'Properties up to this level.',
    default: 'must',
    example: 'should',
  },
  only: {
    rule: NAMES,
    must: 'property ids or globs',
    description: 'Property ids, folders or globs.',
    without: 'all',
    example: ['mask/*', 'kl'],
  },
  known: {
    rule: filled,
    must: 'a file of known failures',
    description: 'File of known failures.',
    example: 'known.json',
  },
  opTimeout: {
    rule: amount,
    must: SECONDS,
    description: 'Seconds for one answer.',
    default: OP_MILLISECONDS / 1_000,
    example: 30,
  },
  helloTimeout: {
    rule: amount,
    must: SECONDS,
    description: 'Seconds for the first answer, imports included.',
    default: HELLO_MILLISECONDS / 1_000,
    example: 300,
  },
  corpus: {
    rule: flag,
    must: 'true or false',
    description: 'Keep failing cases in .lossproof/ and run them first.',
    default: true,
    example: false,
  },
  monitor: {
    rule: record<MonitorConfig>(
      Object.fromEntries(Object.entries(MONITOR_KEYS).map(([name, { rule }]) => [name, rule])),
      'key',
    ),
    must: 'an object of settings for `monitor`',
    description: 'What `lossproof monitor` reads, and how its rules are set.',
    example: { paths: ['runs/'], preset: 'grpo' },
    keys: MONITOR_KEYS,
  },
} as const satisfies KeysOf<Config>;

/** Keys of which a configuration may have one only, and what is said of both. */
export const EXCLUSIVE = {
  keys: ['trainer', 'adapter'],
  complaint: 'name a trainer or an adapter, not both',
} as const satisfies { readonly keys: readonly (keyof Config)[]; readonly complaint: string };
