// Two rows of ids side by side: which token of one is which of the other. A token more or less must not make all behind it
// look changed.
import type { Ids } from '../vocabulary.ts';

/** One column: where it stands before and after; undefined where it is not there. */
export interface Pairing {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Rows of the golden set are short; longer ones, of a trainer that pads to its full length, are laid place by place. */
const LONGEST = 600;

/** Columns side by side, as they stand where the ids are the same or too many. */
export function inPlace(before: number, after: number): Pairing[] {
  return Array.from({ length: Math.max(before, after) }, (_, at) => ({
    before: at < before ? at : undefined,
    after: at < after ? at : undefined,
  }));
}

/** A longest common subsequence; what is left out of it on both sides at one place is told as a change of these tokens. */
export function aligned(before: Ids, after: Ids): Pairing[] {
  if (before.length > LONGEST || after.length > LONGEST || same(before, after))
    return inPlace(before.length, after.length);
  const lengths = commonLengths(before, after);
  const pairs: Pairing[] = [];
  let [left, right] = [0, 0];
  let [gone, come]: [number[], number[]] = [[], []];
  const flush = (): void => {
    pairs.push(
      ...inPlace(gone.length, come.length).map((pair) => ({
        before: pair.before === undefined ? undefined : gone[pair.before],
        after: pair.after === undefined ? undefined : come[pair.after],
      })),
    );
    [gone, come] = [[], []];
  };
  while (left < before.length || right < after.length) {
    if (left < before.length && right < after.length && before[left] === after[right]) {
      flush();
      pairs.push({ before: left++, after: right++ });
    } else if (
      right >= after.length ||
      (left < before.length && (lengths[left + 1]?.[right] ?? 0) >= (lengths[left]?.[right + 1] ?? 0))
    )
      gone.push(left++);
    else come.push(right++);
  }
  flush();
  return pairs;
}

function same(before: Ids, after: Ids): boolean {
  return before.length === after.length && before.every((id, at) => id === after[at]);
}

/** Entry [i][j]: length of the longest common subsequence of before[i..] and after[j..]. */
function commonLengths(before: Ids, after: Ids): number[][] {
  const table = Array.from({ length: before.length + 1 }, () => Array<number>(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const [row = [], next = []] = [table[i], table[i + 1]];
      row[j] = before[i] === after[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}
