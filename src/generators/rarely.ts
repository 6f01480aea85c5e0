// Batches that are longer, wider or stranger than most: how often they are drawn, and how they are made of a short one.
import fc from 'fast-check';

/** True in one of `n` cases; shrinks to false. */
export const rarely = (n: number): fc.Arbitrary<boolean> => fc.nat(n - 1).map((drawn) => drawn === n - 1);

/** The same over and over. */
export const timesOver = <T>(all: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => all).flat() as T[];
