// Properties as the tests of a test runner: a trainer and its setting, what there is to test, verdicts one property at a
// time. Beside it one verdict on several, for a matcher (hold.ts).

import { resolve } from 'node:path';
import type { PropertyResult, RunEvent } from '../../check/events.ts';
import type { Property } from '../../check/property.ts';
import { countRequests } from '../../check/refusals.ts';
import { strangers, worldOf } from '../../check/run.ts';
import { type KnownFailures, readKnown } from '../../check/saved/known.ts';
import { supportOf } from '../../check/support.ts';
import { BUNDLED, stageOf, whoseTrainer } from '../../report/runs.ts';
import type { Level } from '../../vocabulary.ts';
import { chosenProperties } from '../check/chosen.ts';
import { isProblem, type Problem } from '../context.ts';
import { blockText } from './hold.ts';
import { judge, type OpenOptions, openSetting, type Setting } from './setting.ts';

/** The trainer of a folder's configuration, and what that configuration leaves of a catalogue. */
export interface TestRunner {
  readonly setting: Setting;
  /** Its name and version; of the bundled example, that it is not the user's. */
  readonly whose: string;
  /** What to type to see a failure again where nothing was saved; absent: not said. */
  readonly again?: ((seed: number) => string) | undefined;
  /** What `only` and `level` leave. */
  readonly chosen: ReadonlySet<Property>;
  /** What is to be tested, stage by stage. */
  readonly stages: readonly TestedStage[];
  /** What is listed as known and names no property, one sentence each. */
  readonly strangers: readonly string[];
  /** `emit` sees what happens as it does. */
  check(
    property: Property,
    seed: number,
    cases?: number,
    emit?: (event: RunEvent) => void,
  ): Promise<PropertyResult>;
  /** All that is chosen as one run, what is not supported included. */
  checkAll(
    seed: number,
    cases: number | undefined,
    emit: (event: RunEvent) => void,
  ): Promise<readonly PropertyResult[]>;
  /** The failure as the terminal shows it, without colour. */
  explain(result: PropertyResult, seed: number): Promise<string>;
  stop(): Promise<void>;
}

export interface TestedStage {
  /** What its ids begin with. */
  readonly stage: string;
  readonly tests: readonly Property[];
  /** Chosen, and not to be judged on this trainer: how many, and why. */
  readonly unsupported: { readonly count: number; readonly why: string } | undefined;
  /** The same, one by one. */
  readonly lacking: readonly { readonly property: Property; readonly why: string }[];
}

export interface RunnerOptions extends OpenOptions {
  /** The trainer's, word by word. Default: that of the configuration, or LOSSPROOF_TRAINER. */
  readonly command?: readonly string[];
  /** What to type to see a failure again where nothing was saved. Default: vitest with the seed. */
  readonly again?: (seed: number) => string;
  /** Where nothing names a trainer, the bundled example is meant. */
  readonly bundled?: boolean;
  /** Ids, stages or globs, as on the command line. Default: the configuration's, else all. */
  readonly only?: string | readonly string[];
  /** The highest level. Default: the configuration's, else `must`. */
  readonly level?: Level;
  /** What is legal and often not meant fails as well, until it is declared. Default: false. */
  readonly strict?: boolean;
  /** Failures that are lived with: what such a file holds, or its path. Default: the configuration's. */
  readonly known?: KnownFailures | string;
  /** Properties of the user's own, tested whatever `only` and `level` say. */
  readonly own?: readonly Property[];
}

/** Opens the trainer that a folder names, and says what of a catalogue there is to test. Whoever opens it stops it. */
export async function openTestRunner(
  properties: readonly Property[],
  options: RunnerOptions,
): Promise<TestRunner | Problem> {
  const {
    bundled = false,
    only,
    level,
    strict,
    known: listed,
    own = [],
    command = [],
    again,
    ...opening
  } = options;
  const setting = await openSetting(command, opening, bundled);
  if (isProblem(setting)) return setting;
  const { trainer, corpus } = setting;
  const choice = {
    ...(only === undefined ? {} : { only: [only].flat() }),
    ...(level === undefined ? {} : { level }),
  };
  const chosen = chosenProperties(choice, setting.plan.loaded, properties);
  const known = knownOf(setting, listed, opening.cwd ?? process.cwd());
  for (const each of [chosen, known]) {
    if (!isProblem(each)) continue;
    await trainer.stop();
    return each as Problem;
  }
  const { properties: shipped } = chosen as Exclude<typeof chosen, Problem>;
  const lived = known as KnownFailures;
  // What the trainer leaves out of its answers is known of all properties together.
  const judging = { known: lived, strict, requests: countRequests() };
  const ids = properties.map(({ id }) => id);
  const isBundled = setting.plan.choice.from === 'bundled';
  const whose = isBundled ? `${trainer.hello.name}, ${BUNDLED}\n\n` : '';
  return {
    setting,
    again: setting.corpus === undefined ? again : undefined,
    whose: whoseTrainer({ hello: trainer.hello, ...(isBundled ? { bundled: true } : {}) }),
    chosen: new Set(shipped),
    stages: await stagesOf([...shipped, ...own], setting, lived),
    strangers: strangers({ known: lived, catalogue: [...ids, ...own.map(({ id }) => id)] }).map(
      ({ id, reason = '' }) => `${id}: ${reason}`,
    ),
    checkAll: (seed, cases, emit) =>
      judge(setting, shipped, { ...judging, seed, cases, corpus, emit, everyId: ids }),
    async check(property, seed, cases, emit) {
      // `replay` knows the catalogue only: a saved case of a user's own property could not be seen again.
      const saving = shipped.includes(property) ? { corpus } : {};
      const [result] = await judge(setting, [property], { ...judging, seed, cases, emit, ...saving });
      if (result === undefined) throw new Error(`${property.id} gave no verdict.`);
      return result;
    },
    async explain(result, seed) {
      const shown = {
        seed,
        catalogue: new Set(ids),
        saved: corpus !== undefined,
        ...(again === undefined ? {} : { again: again(seed) }),
      };
      return whose + (await blockText([result], setting, shown));
    },
    stop: () => trainer.stop(),
  };
}

/** In the order in which they are named first. What is known to fail is judged in any case: it may be unseen. */
async function stagesOf(
  properties: readonly Property[],
  setting: Setting,
  known: KnownFailures,
): Promise<readonly TestedStage[]> {
  const { trainer, tokenizer, semantics } = setting;
  const world = worldOf(trainer, tokenizer, { ...(await setting.measured()), ...semantics });
  const lackOf = (property: Property): string | undefined =>
    known[property.id] === undefined || known[property.id]?.bundled ? supportOf(property, world) : undefined;
  return [...new Set(properties.map(({ id }) => stageOf(id)))].map((stage) => {
    const all = properties.filter(({ id }) => stageOf(id) === stage);
    const lacks = all.map((property) => ({ property, why: lackOf(property) }));
    const lacking = lacks.flatMap(({ property, why }) => (why === undefined ? [] : [{ property, why }]));
    const tests = lacks.flatMap(({ property, why }) => (why === undefined ? [property] : []));
    const reasons = [...new Set(lacking.map(({ why }) => why))];
    const count = lacking.length;
    const unsupported = count === 0 ? undefined : { count, why: reasons.join('; ') };
    return { stage, tests, unsupported, lacking };
  });
}

/** What is given, over what a ready-made adapter brings along. */
function knownOf(
  setting: Setting,
  given: KnownFailures | string | undefined,
  cwd: string,
): KnownFailures | Problem {
  if (given === undefined) return setting.known;
  const read = typeof given === 'string' ? readKnown(resolve(cwd, given)) : { known: given };
  if ('problem' in read) return read;
  const bundled = Object.entries(setting.known).filter(([, entry]) => entry.bundled === true);
  return { ...Object.fromEntries(bundled), ...read.known };
}
