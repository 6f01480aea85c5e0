// Seeds as people type them: one bound and one reading for the command line and for tests.

/** Shrinking and sampling take 32 bits; so does every seed that is printed. */
export const MOST_SEED = 0x7fff_ffff;

/**
 * The seed of a run that is given none: LOSSPROOF_SEED, else one that nobody chose, which is printed before anything happens.
 *
 * @throws RangeError where LOSSPROOF_SEED is no seed: a typing error must not become another run.
 */
export function freshSeed({ LOSSPROOF_SEED: written }: Readonly<Record<string, string | undefined>>): number {
  if (written === undefined || written === '') return Math.floor(Math.random() * MOST_SEED);
  const seed = readSeed(written);
  if (seed !== undefined) return seed;
  throw new RangeError(`LOSSPROOF_SEED is "${written}"; it must be a whole number from 0 to ${MOST_SEED}.`);
}

/** Undefined for what is no whole number from 0 to MOST_SEED. */
export function readSeed(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && Number.isInteger(value) && value >= 0 && value <= MOST_SEED
    ? value
    : undefined;
}
