// What an item of a preset is.
import type { SettingValue } from '../rule.ts';

/** One line of a checklist. */
export interface PresetItem {
  /** Its heading there. */
  readonly at: string;
  /** What it says, in its words. */
  readonly says: string;
  /** The rules that judge it; empty: it is not judged, and `corrected` says why. */
  readonly rules: readonly string[];
  /** Of those rules, what is other than their default. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, SettingValue>>>>;
  /** Where the checklist was wrong or is no rule for other runs: what holds instead. */
  readonly corrected?: string;
}
