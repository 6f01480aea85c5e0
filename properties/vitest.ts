// `lossproof/vitest`: every property as a test of the trainer that the configuration (or LOSSPROOF_TRAINER) names,
// and the matcher toHold.
//   // trainer.test.ts
//   import { testTrainer } from 'lossproof/vitest';
//   testTrainer();
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  FAILING,
  type HoldOptions,
  isProblem,
  JUDGED,
  openTestRunner,
  type Property,
  type TestRunner,
} from '../src/index.ts';
import { properties } from './index.ts';
import { type Holding, toHold } from './matchers.ts';
import { seedOfEnvironment } from './seed.ts';

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
  /** Where lossproof.config.* is looked for, upward. Default: the working directory. */
  readonly cwd?: string;
  /** Cases a property. Default: the configuration's, else 100. */
  readonly cases?: number;
  /** Default: LOSSPROOF_SEED of the environment, else a new one each run; it is in the name of the suite. */
  readonly seed?: number;
  /** Milliseconds for one property, start and shrinking included. */
  readonly timeout?: number;
  /** Properties of your own, tested after those of the catalogue. */
  readonly properties?: readonly Property[];
  /** Where nothing names a trainer, test the bundled example. Default: that is a failure, for it is not your trainer. */
  readonly bundled?: boolean;
}

/** A torch trainer takes this long to start on a cold disk; a shrink may take a minute. */
const TIMEOUT = 180_000;

/** Declares one test a property. What the trainer does not support is skipped by name, with the reason. */
export function testTrainer(options: TestOptions = {}): void {
  const seed = options.seed ?? seedOfEnvironment();
  const timeout = options.timeout ?? TIMEOUT;
  const own = options.properties ?? [];
  describe(`lossproof, seed ${seed}`, () => {
    let runner: TestRunner;
    let [ran, judged] = [0, 0];
    beforeAll(async () => {
      const cwd = options.cwd ?? process.cwd();
      const opened = await openTestRunner(properties, { cwd, bundled: options.bundled === true });
      if (isProblem(opened)) throw new Error(opened.problem);
      runner = opened;
    }, timeout);
    afterAll(async () => {
      await runner?.stop();
      // With `-t` there may be tests of ours that did not run; those that did must have checked something.
      if (ran > 0 && judged === 0)
        throw new Error('nothing was checked; `npx lossproof doctor` says what the trainer lacks');
    }, timeout);

    test('every known failure is of a property that there is', () => {
      expect(runner.strangers).toEqual([]);
    });
    for (const property of [...properties, ...own]) {
      test(`${property.id}: ${property.title}`, { timeout }, async ({ skip }) => {
        if (!runner.chosen.has(property) && !own.includes(property))
          return skip('left out by `only` or `level`');
        ran++;
        const result = await runner.check(property, seed, options.cases);
        const { verdict, reason } = result;
        if (JUDGED.includes(verdict)) judged++;
        if (verdict === 'pass') return;
        if (FAILING.includes(verdict)) expect.fail(`\n${await runner.explain(result, seed)}`);
        skip(`${verdict}: ${reason}`);
      });
    }
  });
}
