// Every key of a configuration, once: the parser (complaint.ts), docs/config.schema.json and docs/configuration.md
// (scripts/docs) are all made of this table, and the compiler holds it to the types of define.ts.
import { flag, record, recordOfSome, someOf, text } from '../../protocol/rules.ts';
import type { Config, MonitorConfig, TrainerConfig } from './define.ts';
import { type KeysOf, rulesOf, SCALAR } from './key.ts';
import { MONITOR_KEYS } from './monitor-keys.ts';
import { TRAINER_KEYS } from './trainer-keys.ts';

export const CONFIG_KEYS = {
  $schema: {
    rule: text,
    must: 'the address of a JSON Schema',
    description: 'Where an editor finds the JSON Schema of the file. Not read by lossproof.',
    example: './node_modules/lossproof/docs/config.schema.json',
  },
  ...TRAINER_KEYS,
  trainers: {
    rule: recordOfSome(record<TrainerConfig>(rulesOf(TRAINER_KEYS), 'key')),
    must: 'an object of at least one trainer with a name',
    description: 'Several trainers by name, each with keys of its own over those that stand beside this one.',
    example: { grpo: { trainer: 'python3 grpo.py' }, sft: { adapter: 'trl-sft' } },
    each: TRAINER_KEYS,
  },
  matrix: {
    rule: recordOfSome(someOf(SCALAR)),
    must: 'an object of lists, such as { "padding_side": ["left", "right"] }',
    description:
      'Every combination of these: a key of a trainer, or a name that stands as `{name}` in its texts.',
    example: { tokenizer: ['models/a', 'models/b'], padding_side: ['left', 'right'] },
    detailed: true,
  },
  exclude: {
    rule: someOf(recordOfSome(SCALAR)),
    must: 'a list of combinations, such as [{ "trainer": "sft", "padding_side": "left" }]',
    description: 'Combinations that make no sense, by as many of their values as it takes.',
    example: [{ trainer: 'sft', padding_side: 'left' }],
  },
  corpus: {
    rule: flag,
    must: 'true or false',
    description: 'Keep failing cases in .lossproof/ and run them first.',
    default: true,
    example: false,
  },
  monitor: {
    rule: record<MonitorConfig>(rulesOf(MONITOR_KEYS), 'key'),
    must: 'an object of settings for `monitor`',
    description: 'The logs that `lossproof monitor` reads, and the settings of its rules.',
    example: { paths: ['runs/'], preset: 'grpo' },
    keys: MONITOR_KEYS,
  },
} as const satisfies KeysOf<Config>;
