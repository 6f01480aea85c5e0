// The seed of a test that names none: LOSSPROOF_SEED repeats a run, without it each run tries other cases.
import { anySeed, MOST_SEED, readSeed } from '../src/index.ts';

/** @throws RangeError where LOSSPROOF_SEED is no seed: a typing error must not become another run. */
export function seedOfEnvironment(): number {
  const written = process.env.LOSSPROOF_SEED;
  if (written === undefined || written === '') return anySeed();
  const seed = readSeed(written);
  if (seed !== undefined) return seed;
  throw new RangeError(`LOSSPROOF_SEED is "${written}"; it must be a whole number from 0 to ${MOST_SEED}.`);
}
