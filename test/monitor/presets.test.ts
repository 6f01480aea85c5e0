// Presets hold rules and settings that exist.
import { expect, test } from 'vitest';
import { monitorRules } from '../../properties/monitor/index.ts';
import { PRESETS } from '../../src/monitor/presets.ts';

const rules = new Map(monitorRules.map((rule) => [rule.id, rule]));

test.each(PRESETS.map((preset) => [preset.name, preset] as const))(
  'preset %s sets what its rules have, to another value of the same type',
  (_, preset) => {
    for (const [id, settings] of Object.entries(preset.rules)) {
      expect([...rules.keys()]).toContain(id);
      for (const [key, value] of Object.entries(settings)) {
        const usual = rules.get(id)?.settings[key]?.default;
        expect(typeof value, `${id}.${key}`).toBe(typeof usual);
        expect(value, `${id}.${key} is its default`).not.toBe(usual);
      }
    }
  },
);
