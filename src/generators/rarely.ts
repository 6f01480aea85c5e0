// Batches that are longer, wider or stranger than most: how often they are drawn, and how they are made of a short one.
import fc from 'fast-check';

/** True in one of `n` cases; shrinks to false. */
export const rarely = (n: number): fc.Arbitrary<boolean> => fc.nat(n - 1).map((drawn) => drawn === n - 1);

/** The same over and over. */
export const timesOver = <T>(all: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => all).flat() as T[];

/** Rows of a large batch: one more than fill the chunks that trainers work in, and than fill the largest of them. */
export const MANY_ROWS = 17;
export const MOST_ROWS = 65;

/** In one list of so many the last is the first over again: what keeps rows by what they hold has one too few. */
const TWIN_ONE_IN = 6;

/** Some of these lists of rows have one twice. */
export const twinned = <T>(lists: fc.Arbitrary<T[]>): fc.Arbitrary<T[]> =>
  fc.tuple(lists, rarely(TWIN_ONE_IN)).map(([rows, twin]) => {
    const [first] = rows;
    return twin && first !== undefined && rows.length > 1 ? [...rows.slice(0, -1), first] : rows;
  });

/** A factor near 1 after which no number is one of half precision, and every one of few digits is still one of float32. */
export const FINE = 1 + 2 ** -12;
