// Presets carry every item of the checklists that they come from, by rules and settings that exist.
import { describe, expect, test } from 'vitest';
import { monitorRules } from '../../../properties/monitor/index.ts';
import { PRESETS } from '../../../src/monitor/presets/presets.ts';

/** What the checklists tell to look at, in few words each: of every line, a piece that the preset's item must have. */
const CHECKLISTS: Readonly<Record<string, readonly string[]>> = {
  'zero-loss': [
    'llm_total_loss_avg',
    'llm_sft_loss_avg > 0',
    'llm_rft_loss_avg > 0',
    'num_sft_samples > 0',
    'num_rft_samples > 0',
    'data length: 3',
    'game_segments count: 32',
  ],
  tools: [
    '!!!!',
    'NaN',
    '-1',
    'Invalid tool call format',
    'learning rate',
    'clip range',
    'max_norm',
    'sparse',
    'advantages negative',
    'longer than the context',
    'The tool answers nothing',
    'entropy bonus',
    'max(adv, -5) + min(adv, 5)',
    'normalised in every mini-batch',
    'sudden spikes',
    'Small batches and many epochs',
  ],
  grpo: [
    '<|start_header_id|>',
    'assistant<|end_header_id|>',
    '15 to 96',
    'above 0.5',
    'At most one <|eot_id|>',
    '36 <|eot_id|>',
    'pad_token_id equal to eot',
    'no pad_token_id',
    'T - 2',
    'suppressed',
    'entropy_coef',
    'All rewards are 0',
    'temperature 1.2',
    'forward KL',
    '[128001, 128009]',
    'attention mask',
  ],
};

const rules = new Map(monitorRules.map((rule) => [rule.id, rule]));

describe.each(PRESETS.map((preset) => [preset.name, preset] as const))('preset %s', (name, preset) => {
  test('carries or explains every item of its checklist', () => {
    for (const words of CHECKLISTS[name] ?? [])
      expect(
        preset.items.some(({ says }) => says.includes(words)),
        words,
      ).toBe(true);
    for (const item of preset.items)
      expect(item.rules.length > 0 || item.corrected !== undefined, item.says).toBe(true);
  });

  test('names rules that exist', () => {
    for (const item of preset.items) for (const id of item.rules) expect([...rules.keys()]).toContain(id);
  });

  test('sets what its rules have, to another value of the same type', () => {
    for (const { says, settings = {}, rules: named } of preset.items)
      for (const [id, values] of Object.entries(settings)) {
        expect(named, says).toContain(id);
        for (const [key, value] of Object.entries(values)) {
          const setting = rules.get(id)?.settings[key];
          expect(setting, `${id}.${key}`).toBeDefined();
          expect(typeof value).toBe(typeof setting?.default);
          expect(value, `${id}.${key} is no other than the default`).not.toBe(setting?.default);
          expect(preset.settings[id]?.[key]).toBe(value);
        }
      }
  });
});

test('there is a preset for each checklist', () => {
  expect(PRESETS.map(({ name }) => name)).toEqual(Object.keys(CHECKLISTS));
});

test('what the checklists had wrong is no setting', () => {
  const all = Object.assign({}, ...PRESETS.map(({ settings }) => settings));
  // A range of lengths, an entropy in nats and a learning rate are of one run, and blame others.
  expect(all).not.toHaveProperty(['monitor/length-in-range']);
  expect(all).not.toHaveProperty(['monitor/entropy-in-bounds']);
  expect(all).not.toHaveProperty(['monitor/learning-rate-size']);
});
