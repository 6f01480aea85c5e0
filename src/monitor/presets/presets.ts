// Named sets of settings: the monitoring lists of the three documents that this tool grew from, each item of them carried
// by rules, or left out with its reason. Where a document was wrong, the item says what is right; the rules hold to that.
import type { SettingValue } from '../rule.ts';
import { GRPO } from './grpo.ts';
import type { PresetItem } from './item.ts';
import { TOOLS } from './tools.ts';
import { ZERO_LOSS } from './zero-loss.ts';

export interface Preset {
  readonly name: string;
  readonly title: string;
  /** The document. */
  readonly from: string;
  readonly items: readonly PresetItem[];
  /** By rule and setting: those of the items together. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, SettingValue>>>>;
}

export const PRESETS: readonly Preset[] = [
  presetOf(
    'zero-loss',
    'Losses of a language model beside others, which must not stay 0',
    '000, a zero loss of the language model',
    ZERO_LOSS,
  ),
  presetOf(
    'tools',
    'PPO or GRPO with tool calls: the signs of a collapse',
    '001, causes of a training collapse',
    TOOLS,
  ),
  presetOf('grpo', 'The first steps of GRPO', '004, five bugs of a GRPO trainer', GRPO),
];

// --- helpers ---

function presetOf(name: string, title: string, from: string, items: readonly PresetItem[]): Preset {
  const settings: Record<string, Record<string, SettingValue>> = {};
  for (const item of items)
    for (const [rule, values] of Object.entries(item.settings ?? {}))
      settings[rule] = { ...settings[rule], ...values };
  return { name, title, from, items, settings };
}
