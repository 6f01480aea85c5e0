// The row of a file that a sample was read from, for rules about fields that a sample does not have. It is kept as long as the
// sample is, and is written nowhere.
import type { Sample } from '../series.ts';

const rows = new WeakMap<Sample, object>();

/** Done by a reader as it makes the sample. */
export function keepRow(sample: Sample, row: object): void {
  rows.set(sample, row);
}

/** The row of the file; undefined of a sample that no reader made. */
export function rowOf(sample: Sample): object | undefined {
  return rows.get(sample);
}
