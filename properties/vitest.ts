// The vitest face: every property as a test of the trainer that the configuration (or TRAINPROOF_TRAINER) names.
//   // trainer.test.ts
//   import { testTrainer } from 'trainproof/vitest';
//   testTrainer();
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Face, openFace } from '../src/cli/face.ts';
import { properties } from './index.ts';

export interface TestOptions {
  /** Where trainproof.config.* is looked for, upward. Default: the working directory. */
  readonly cwd?: string;
  /** Cases a property. Default: the configuration's, else 100. */
  readonly cases?: number;
  /** Default: TRAINPROOF_SEED of the environment, else a new one each run; it is in the name of the suite. */
  readonly seed?: number;
  /** Milliseconds for one property, start and shrinking included. */
  readonly timeout?: number;
}

/** Seeds are 31 bits: they are typed by hand. */
const SEEDS = 2 ** 31;
/** A torch trainer takes this long to start on a cold disk; a shrink may take a minute. */
const TIMEOUT = 180_000;

/** Declares one test a property. What the trainer does not support is skipped by name, with the reason. */
export function testTrainer(options: TestOptions = {}): void {
  const seed = options.seed ?? Number(process.env.TRAINPROOF_SEED ?? Math.floor(Math.random() * SEEDS));
  const timeout = options.timeout ?? TIMEOUT;
  describe(`trainproof, seed ${seed}`, () => {
    let face: Face;
    beforeAll(async () => {
      const opened = await openFace(properties, { cwd: options.cwd ?? process.cwd(), env: process.env });
      if ('problem' in opened) throw new Error(opened.problem);
      face = opened;
    }, timeout);
    afterAll(() => face?.stop());

    test('every known failure is of a property that there is', () => {
      expect(face.strangers).toEqual([]);
    });
    for (const property of properties) {
      test(`${property.id}: ${property.title}`, { timeout }, async ({ skip }) => {
        if (!face.chosen.has(property)) return skip('left out by `only` or `level`');
        const result = await face.check(property, seed, options.cases);
        switch (result.verdict) {
          case 'pass':
            return;
          case 'fail':
          case 'error':
          case 'changed':
            return expect.fail(`\n${face.explain(result)}`);
          case 'thin':
          case 'stale':
          case 'unseen':
            return expect.fail(result.reason);
          default:
            return skip(`${result.verdict}: ${result.reason}`);
        }
      });
    }
  });
}
