// Why a rule judged nothing: which series it lacks, or how many values, said of what there is.
import type { Series } from '../../src/index.ts';

/** What a watch was shown, for the reason why it judged nothing of it. */
export interface Seen {
  /** Finite values at steps of their own, of each series. */
  readonly counts: ReadonlyMap<Series, number>;
  /** Of a rule that joins: what each series is to it; undefined: nothing. */
  readonly keys?: ReadonlyMap<Series, string | undefined>;
  /** Of any other rule: series that are none for it. */
  readonly aside: readonly Series[];
}

/** What a rule needs, in the order in which it is missed; the first that is lacking is said, with what there is. */
export interface Needs {
  /** Keys that must have a series, with what they are: `{ grad: 'gradient norm' }`. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Values before it judges the first, and what they are called: `values`. */
  readonly least?: number;
  readonly values?: string;
  /** Nothing of that was lacking. */
  readonly otherwise: string;
}

export type Why = string | Needs | ((seen: Seen) => string);

export function reasonOf(why: Why, seen: Seen): string {
  if (typeof why === 'string') return why;
  if (typeof why === 'function') return why(seen);
  return keysMissing(why, seen) ?? valuesMissing(why, seen) ?? why.otherwise;
}

function keysMissing({ keys = {} }: Needs, seen: Seen): string | undefined {
  const there = new Set(seen.keys?.values() ?? []);
  const missing = Object.keys(keys).filter((key) => !there.has(key));
  if (seen.keys === undefined || missing.length === 0) return undefined;
  const names = namesOf([...seen.keys.keys()]);
  return `no ${missing.map((key) => keys[key]).join(' and no ')} is logged beside ${names}`;
}

function valuesMissing({ least = 0, values = 'values' }: Needs, { counts, aside }: Seen): string | undefined {
  const [most] = [...counts].filter(([series]) => !aside.includes(series)).sort(([, a], [, b]) => b - a);
  if (most === undefined)
    return aside.length === 0 ? undefined : `${namesOf(aside)}: of a part or of another kind than it judges`;
  return most[1] < least ? `it needs ${least} ${values}; ${most[0].name} has ${most[1]}` : undefined;
}

/** `train/loss`, `a, b and 3 more`. */
export function namesOf(series: readonly Series[]): string {
  const names = [...new Set(series.map(({ name }) => name))];
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const MOST_NAMES = 3;
