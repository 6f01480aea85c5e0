// Named sets of settings: three checklists that people wrote after runs which went wrong, each item of them carried by
// rules, or left out with its reason. Where a checklist was wrong, the item says what is right; the rules hold to that.
import type { SettingValue } from '../rule.ts';
import { GRPO } from './grpo.ts';
import type { PresetItem } from './item.ts';
import { TOOLS } from './tools.ts';
import { ZERO_LOSS } from './zero-loss.ts';

export interface Preset {
  readonly name: string;
  readonly title: string;
  /** Which trouble the checklist was written after, as a sentence. */
  readonly origin: string;
  readonly items: readonly PresetItem[];
  /** By rule and setting: those of the items together. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, SettingValue>>>>;
}

export const PRESETS: readonly Preset[] = [
  presetOf(
    'zero-loss',
    'Losses of a language model beside others, which must not stay 0',
    'Written after a trainer whose language-model losses were logged as 0.0, because it read its batch by its length.',
    ZERO_LOSS,
  ),
  presetOf(
    'tools',
    'PPO or GRPO with tool calls: the signs of a collapse',
    'Written after a PPO run with tool calls that collapsed: repeated tokens, NaN, a reward that stays at -1, malformed calls.',
    TOOLS,
  ),
  presetOf(
    'grpo',
    'The first steps of GRPO',
    'Written after five bugs of one GRPO trainer: where its completions begin and end, how long they are, their entropy.',
    GRPO,
  ),
];

// --- helpers ---

function presetOf(name: string, title: string, origin: string, items: readonly PresetItem[]): Preset {
  const settings: Record<string, Record<string, SettingValue>> = {};
  for (const item of items)
    for (const [rule, values] of Object.entries(item.settings ?? {}))
      settings[rule] = { ...settings[rule], ...values };
  return { name, title, origin, items, settings };
}
