// Rows as the installed trainer made them, compared with those of the documented rules. Equal ones stay as the rules made
// them, because the rules know who says what; others are shown as the trainer made them.
import { type Ids, IGNORE_INDEX } from '../../vocabulary.ts';
import { cutRow } from '../cut.ts';
import type { TokenRow } from '../row.ts';

/** A row as the trainer made it; a label is -100, or the token itself. */
export interface OwnRow {
  readonly ids: Ids;
  readonly labels: Ids;
}

/** How a row of the rules is none of the trainer's. */
export type Unlike = 'ids' | 'cut' | 'end' | 'labels' | 'left out' | 'added';

export interface Difference {
  readonly kind: Unlike;
  readonly rows: number;
  /** The number of the first. */
  readonly first: number;
}

export interface Own {
  /** Rows of an entry; none where the trainer leaves it out, undefined where it was not given the entry. */
  readonly of: (number: number) => readonly OwnRow[] | undefined;
  /** Whether the rows of the rules are the trainer's; a difference is counted. */
  readonly agrees: (number: number, rules: readonly (TokenRow | undefined)[]) => boolean;
  /** Most rows first. */
  readonly differences: () => readonly Difference[];
  /** Rows that were compared. */
  readonly compared: () => number;
}

export function ownRows(made: ReadonlyMap<number, readonly OwnRow[]>): Own {
  const counted = new Map<Unlike, { rows: number; first: number }>();
  let compared = 0;
  return {
    of: (number) => made.get(number),
    agrees(number, rules) {
      const own = made.get(number) ?? [];
      compared += Math.max(own.length, rules.length);
      const kinds = Array.from({ length: Math.max(own.length, rules.length) }, (_, at) =>
        unlike(rules[at], own[at]),
      ).filter((kind) => kind !== undefined);
      for (const kind of kinds) {
        const known = counted.get(kind) ?? { rows: 0, first: number };
        counted.set(kind, { ...known, rows: known.rows + 1 });
      }
      return kinds.length === 0;
    },
    differences: () =>
      [...counted].map(([kind, count]) => ({ kind, ...count })).sort((a, b) => b.rows - a.rows),
    compared: () => compared,
  };
}

/** The row of the rules with the trainer's mask, where its tokens begin or end as the trainer's do; undefined: it has others. */
export function overlaid(rules: TokenRow | undefined, { ids, labels }: OwnRow): TokenRow | undefined {
  const missing = (rules?.ids.length ?? 0) - ids.length;
  if (rules === undefined || missing < 0) return undefined;
  const sides = (['right', 'left'] as const).map((side) => cutRow(rules, ids.length, side));
  const row = sides.find((side) => side.ids.every((id, at) => id === ids[at]));
  return row === undefined
    ? undefined
    : { ...row, trained: labels.map((label) => label !== IGNORE_INDEX), given: { labels } };
}

// --- helpers ---

function unlike(rules: TokenRow | undefined, own: OwnRow | undefined): Unlike | undefined {
  if (own === undefined) {
    // A row of which nothing is trained may go or stay: no loss comes of it.
    return rules === undefined || !isTrained(rules.trained) ? undefined : 'left out';
  }
  if (rules === undefined) return 'added';
  const { ids } = rules;
  if (ids.length === own.ids.length && ids.every((id, at) => id === own.ids[at])) {
    const same = own.labels.every(
      (label, at) => at === 0 || label === (rules.trained[at] === true ? ids[at] : IGNORE_INDEX),
    );
    return same ? undefined : 'labels';
  }
  const [short, long] = ids.length < own.ids.length ? [ids, own.ids] : [own.ids, ids];
  const from = long.length - short.length;
  if (from === 1 && short.every((id, at) => id === long[at])) return 'end';
  const isPart = short.every((id, at) => id === long[at]) || short.every((id, at) => id === long[from + at]);
  return isPart ? 'cut' : 'ids';
}

/** What stands first is no target: nothing predicts it. */
const isTrained = (trained: readonly boolean[]): boolean => trained.indexOf(true, 1) >= 0;
