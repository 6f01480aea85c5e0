// The seed of a test that names none: TRAINPROOF_SEED repeats a run, without it each run tries other cases.

/** Seeds are 31 bits: they are typed by hand. */
const SEEDS = 2 ** 31;

/** @throws RangeError where TRAINPROOF_SEED is no seed: a typing error must not become another run. */
export function seedOfEnvironment(): number {
  const written = process.env.TRAINPROOF_SEED;
  if (written === undefined || written === '') return Math.floor(Math.random() * SEEDS);
  const seed = Number(written);
  if (Number.isInteger(seed) && seed >= 0 && seed < SEEDS) return seed;
  throw new RangeError(`TRAINPROOF_SEED is "${written}"; it must be a whole number from 0 to ${SEEDS - 1}.`);
}
