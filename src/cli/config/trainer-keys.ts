// The keys of a configuration that speak of one trainer: at the top, and in each entry of `trainers`.

import { SEMANTICS_RULE } from '../../protocol/hello.ts';
import { atLeast, eitherOf, filled, having, oneOf, someOf } from '../../protocol/rules.ts';
import type { ObjectTrainerSpec } from '../../trainer/object.ts';
import { HELLO_MILLISECONDS, OP_MILLISECONDS } from '../../trainer/process.ts';
import type { TrainerConfig } from './define.ts';
import { type KeysOf, LEVEL, LEVEL_WORDS, NAMES, WAIT } from './key.ts';

/** Screens a property in well under a second on a plain trainer, and meets every label's threshold. */
export const DEFAULT_CASES = 100;

const SECONDS = 'seconds above 0, two million at most';

export const TRAINER_KEYS = {
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
    description: 'A ready-made adapter instead, by its name: `trl-grpo`, `verl`.',
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
    description: 'The library that reads it; `xenova` needs @xenova/transformers.',
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
    description: 'Cases per property.',
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
    rule: WAIT,
    must: SECONDS,
    description: 'Seconds for one answer.',
    without: `${OP_MILLISECONDS / 1_000}, or three times what the start took where that is more`,
    example: 30,
  },
  helloTimeout: {
    rule: WAIT,
    must: SECONDS,
    description: 'Seconds for the first answer, imports included.',
    default: HELLO_MILLISECONDS / 1_000,
    example: 300,
  },
} as const satisfies KeysOf<TrainerConfig>;

/** Keys of which one place may have one only, and what is said of both. */
export const EXCLUSIVE = {
  keys: ['trainer', 'adapter'],
  complaint: 'name a trainer or an adapter, not both',
} as const satisfies { readonly keys: readonly (keyof TrainerConfig)[]; readonly complaint: string };
