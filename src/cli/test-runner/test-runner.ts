// Properties as the tests of a test runner: a trainer and its setting, verdicts one property at a time. Beside it one
// verdict on several, for a matcher (hold.ts).
import type { PropertyResult } from '../../check/events.ts';
import type { Property } from '../../check/property.ts';
import { strangers } from '../../check/run.ts';
import { chosenProperties } from '../check/chosen.ts';
import { isProblem, type Problem } from '../context.ts';
import { blockText } from './hold.ts';
import { judge, type OpenOptions, openSetting } from './setting.ts';

/** The trainer of a folder's configuration, and what that configuration leaves of a catalogue. */
export interface TestRunner {
  /** What `only` and `level` leave. */
  readonly chosen: ReadonlySet<Property>;
  /** What is listed as known and names no property, one sentence each. */
  readonly strangers: readonly string[];
  check(property: Property, seed: number, cases?: number): Promise<PropertyResult>;
  /** The failure as the terminal shows it, without colour. */
  explain(result: PropertyResult, seed: number): Promise<string>;
  stop(): Promise<void>;
}

/** `bundled`: where nothing names a trainer, the bundled example is meant. */
export async function openTestRunner(
  properties: readonly Property[],
  options: OpenOptions & { readonly bundled?: boolean },
): Promise<TestRunner | Problem> {
  const { bundled = false, ...opening } = options;
  const setting = await openSetting([], opening, bundled);
  if (isProblem(setting)) return setting;
  const { trainer, known, corpus } = setting;
  const chosen = chosenProperties({}, setting.plan.loaded, properties);
  if (isProblem(chosen)) {
    await trainer.stop();
    return chosen;
  }
  const catalogue = properties.map(({ id }) => id);
  return {
    chosen: new Set(chosen),
    strangers: strangers({ known, catalogue }).map(({ id, reason = '' }) => `${id}: ${reason}`),
    async check(property, seed, cases) {
      // `replay` knows the catalogue only: a saved case of a user's own property could not be seen again.
      const saving = chosen.includes(property) ? { corpus } : {};
      const [result] = await judge(setting, [property], { seed, cases, ...saving });
      if (result === undefined) throw new Error(`${property.id} gave no verdict.`);
      return result;
    },
    explain: (result, seed) =>
      blockText([result], setting, { seed, catalogue: new Set(catalogue), saved: corpus !== undefined }),
    stop: () => trainer.stop(),
  };
}
