// The sides that the rows of a file have: both, or one, beside which a model folder can stand. Rows with fewer sides than the others are left out.
import type { SideName } from '../model.ts';
import type { Complaint } from './logprobs.ts';
import { lacks, type Recorded, type Rollout, rolloutsOf } from './read.ts';

export interface Sided {
  /** The side that no row has; undefined: all have both. */
  readonly missing?: SideName;
  readonly rows: readonly Recorded[];
  readonly complaints: readonly Complaint[];
}

/** @param alone one side is enough. */
export function sided(rows: readonly Recorded[], alone: boolean): Sided {
  const missing = alone ? missingIn(rows) : undefined;
  const kept: Recorded[] = [];
  const complaints: Complaint[] = [];
  for (const row of rows) {
    const lost = OF_SIDE.find(([side, field]) => side !== missing && row[field] === undefined);
    if (lost === undefined) kept.push(row);
    else complaints.push({ complaint: `${row.where ?? ''}: ${lacks(lost[1])}` });
  }
  return { rows: kept, complaints, ...(missing === undefined ? {} : { missing }) };
}

export const hasBoth = (row: Recorded): row is Recorded & Rollout =>
  row.sampling !== undefined && row.trainer !== undefined;

/** What of one object of a file has both sides. */
export const rolloutsWithBoth = (value: unknown, where: string): readonly Rollout[] =>
  rolloutsOf(value, where).filter((row): row is Recorded & Rollout => !('complaint' in row) && hasBoth(row));

// --- helpers ---

const OF_SIDE = [
  ['engine', 'sampling'],
  ['trainer', 'trainer'],
] as const;

/** Where no row has both, the side that fewer rows have. */
function missingIn(rows: readonly Recorded[]): SideName | undefined {
  if (rows.some(hasBoth)) return undefined;
  const sampled = rows.filter(({ sampling }) => sampling !== undefined).length;
  return 2 * sampled >= rows.length ? 'trainer' : 'engine';
}
