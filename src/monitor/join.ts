// Points of several series at the same step, brought together. They come in any order; a row is handed on once nothing
// more can be expected for it, so that a rule never takes "not yet" for "not".

export interface JoinedRow<Key extends string> {
  readonly step: number;
  readonly values: ReadonlyMap<Key, number>;
}

export interface Join<Key extends string> {
  /** Rows that are complete now, in the order of their steps. A point of a row that was handed on already is dropped. */
  add(key: Key, step: number, value: number): readonly JoinedRow<Key>[];
  /** What is left: the log is at its end. */
  end(): readonly JoinedRow<Key>[];
}

/** Steps that may be open at once: writers that flush their series one after the other are seldom further apart. */
const OPEN_ROWS = 32;
/** So many newer steps are waited for a series that was logged before: not every series is logged at every step. */
const PATIENCE = 2;

/**
 * A row is complete when each series that was seen so far has a point in it or is past it (the first row: and a newer
 * step has begun), or when `PATIENCE` newer steps have begun. Where a series goes back, the run was resumed: what is open is handed on, and
 * steps are counted anew.
 */
export function joinSteps<Key extends string>(): Join<Key> {
  const open = new Map<number, Map<Key, number>>();
  const lastStep = new Map<Key, number>();
  let newest = Number.NEGATIVE_INFINITY;
  let handed = Number.NEGATIVE_INFINITY;

  const take = (step: number): JoinedRow<Key> => {
    const values = open.get(step) ?? new Map<Key, number>();
    open.delete(step);
    handed = Math.max(handed, step);
    return { step, values };
  };
  const steps = () => (open.size === 1 ? [...open.keys()] : [...open.keys()].sort((a, b) => a - b));
  const all = () => steps().map(take);
  const complete = (step: number, newer: number): boolean => {
    if (newer >= PATIENCE) return true;
    // Which series there are is known when the first step has gone by.
    if (newer === 0 && handed === Number.NEGATIVE_INFINITY) return false;
    const row = open.get(step);
    for (const [key, last] of lastStep) if (last <= step && row?.has(key) !== true) return false;
    return true;
  };

  return {
    add(key, step, value) {
      const before = lastStep.get(key);
      const rows: JoinedRow<Key>[] = [];
      if (before !== undefined && step < before) {
        rows.push(...all());
        lastStep.clear();
        newest = Number.NEGATIVE_INFINITY;
        handed = Number.NEGATIVE_INFINITY;
      } else if (step <= handed) {
        // Too late for this row: the next ones wait for it.
        lastStep.set(key, step);
        return rows;
      }
      lastStep.set(key, step);
      newest = Math.max(newest, step);
      const row = open.get(step) ?? new Map<Key, number>();
      row.set(key, value);
      open.set(step, row);
      const waiting = steps();
      for (const [index, each] of waiting.entries()) {
        const newer = waiting.length - 1 - index;
        if (newer < OPEN_ROWS && !complete(each, newer)) break;
        rows.push(take(each));
      }
      return rows;
    },
    end: all,
  };
}
