// Seeds as people type them: one bound and one reading for the command line and for tests.

/** Shrinking and sampling take 32 bits; so does every seed that is printed. */
export const MOST_SEED = 0x7fff_ffff;

/** A seed that nobody chose; it is printed before anything happens. */
export function anySeed(): number {
  return Math.floor(Math.random() * MOST_SEED);
}

/** Undefined for what is no whole number from 0 to MOST_SEED. */
export function readSeed(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && Number.isInteger(value) && value >= 0 && value <= MOST_SEED
    ? value
    : undefined;
}
