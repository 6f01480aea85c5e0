// The keys of `monitor` in a configuration, as keys.ts has those of the whole.
import { eitherOf, filled, flag, number, recordOf, someOf, text } from '../../protocol/rules.ts';
import type { MonitorConfig } from './define.ts';
import { type KeysOf, LEVEL, LEVEL_WORDS, NAMES } from './key.ts';

const SETTINGS = recordOf(eitherOf<string | number | boolean>(text, number, flag));
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
    description: 'Facts that the run does not log.',
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
