// `lossproof/vitest`: every property as a test of the trainer that the configuration (or LOSSPROOF_TRAINER) names,
// and the matcher toHold.
//   // trainer.test.ts
//   import { testTrainer } from 'lossproof/vitest';
//   testTrainer();
import { afterAll, describe, expect, test } from 'vitest';
import { bound } from '../src/bounds.ts';
import {
  FAILING,
  freshSeed,
  type HoldOptions,
  isProblem,
  JUDGED,
  type KnownFailures,
  type Level,
  openTestRunner,
  type Property,
} from '../src/index.ts';
import { properties } from './index.ts';
import { type Holding, toHold } from './matchers.ts';

export type { Holdable, HoldOptions } from '../src/index.ts';
export type { Holding } from './matchers.ts';

expect.extend({ toHold });

declare module 'vitest' {
  interface Matchers<T> {
    /**
     * `await expect(trainer).toHold('mask/*')`: every property named holds for the trainer. Names are ids, stages and
     * globs as on the command line, or properties of your own; without any, all of level `must`. With `.not` at least
     * one of them is shown broken. What could not be checked fails both ways.
     */
    toHold(what?: Holding, options?: HoldOptions): Promise<void>;
  }
}

export interface TestOptions {
  /** Which of the configuration's trainers: `grpo`, or a glob such as `grpo*left` that fits one. */
  readonly trainer?: string;
  /** Where lossproof.config.* is looked for, upward. Default: the working directory. */
  readonly cwd?: string;
  /** Cases per property. Default: the configuration's, else 100. */
  readonly cases?: number;
  /** Default: LOSSPROOF_SEED of the environment, else a new one each run; it is in the name of the suite. */
  readonly seed?: number;
  /** Milliseconds for one property, start and shrinking included. */
  readonly timeout?: number;
  /** Properties of your own, tested after those of the catalogue. */
  readonly properties?: readonly Property[];
  /** Ids, stages or globs, as on the command line. Default: the configuration's, else the whole catalogue. */
  readonly only?: string | readonly string[];
  /** The highest level. Default: the configuration's, else `must`; a whole id in `only` needs none. */
  readonly level?: Level;
  /** What is legal and often not meant fails as well, until it is declared. Default: false. */
  readonly strict?: boolean;
  /** Failures that are lived with: what such a file holds, or its path. Default: the configuration's. */
  readonly known?: KnownFailures | string;
  /** Where nothing names a trainer, test the bundled example. Default: that is a failure, for it is not your trainer. */
  readonly bundled?: boolean;
}

/** A torch trainer takes this long to start on a cold disk; a shrink may take a minute. */
const TIMEOUT = bound({
  of: 'a test of `testTrainer`',
  wall: 180_000,
  over: 'the test fails by its own time-out',
  option: 'timeout',
});

/**
 * Declares one test per property, in a suite per stage. What the trainer does not support is one skipped test per stage, with
 * the reasons. The trainer is started while tests are collected: only it knows which there are.
 */
export function testTrainer(options: TestOptions = {}): void {
  const seed = options.seed ?? freshSeed(process.env);
  const { timeout = TIMEOUT, cases, properties: own = [], bundled = false, cwd = process.cwd() } = options;
  const { trainer, only, level, strict, known } = options;
  const named = {
    ...(trainer === undefined ? {} : { trainer }),
    ...(only === undefined ? {} : { only }),
    ...(level === undefined ? {} : { level }),
    ...(strict === undefined ? {} : { strict }),
    ...(known === undefined ? {} : { known }),
  };
  describe(`lossproof${trainer === undefined ? '' : ` of ${trainer}`}, seed ${seed}`, async () => {
    const runner = await openTestRunner(properties, { cwd, bundled, own, ...named });
    if (isProblem(runner)) {
      test('there is a trainer to test', () => expect.fail(runner.problem));
      return;
    }
    let [ran, judged] = [0, 0];
    afterAll(async () => {
      await runner.stop();
      // With `-t` there may be tests of ours that did not run; those that did must have checked something.
      if (ran > 0 && judged === 0) throw new Error(NOTHING);
    }, timeout);

    test('every known failure is of a property that there is', () => {
      expect(runner.strangers).toEqual([]);
    });
    if (runner.stages.every(({ tests }) => tests.length === 0))
      test('the trainer can be checked for something', () => expect.fail(NOTHING));
    for (const { stage, tests, unsupported } of runner.stages) {
      describe(stage, () => {
        for (const property of tests) {
          test(`${property.id}: ${property.title}`, { timeout }, async ({ skip }) => {
            ran++;
            const result = await runner.check(property, seed, cases);
            const { verdict, reason } = result;
            if (JUDGED.includes(verdict)) judged++;
            if (verdict === 'pass') return;
            if (FAILING.includes(verdict)) expect.fail(`\n${await runner.explain(result, seed)}`);
            skip(`${verdict}: ${reason}`);
          });
        }
        if (unsupported === undefined) return;
        const { count, why } = unsupported;
        test(`${stage}: ${count} ${count === 1 ? 'property is' : 'properties are'} not supported`, ({
          skip,
        }) => skip(why));
      });
    }
  });
}

const NOTHING = 'nothing was checked; `npx lossproof doctor` says what the trainer lacks';
