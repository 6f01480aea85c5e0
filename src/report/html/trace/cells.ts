// What the mask carpet draws of each token: one of few looks, by what was trained there and how strongly; and the runs of
// one look in a row, so that a page of a hundred thousand tokens holds a few thousand shapes.
import type { LedgerRow } from '../../../trace/ledger.ts';
import type { ShownRow } from '../../trace/rows.ts';

/** Of a weight: more could not be told apart. */
export const LEVELS = 5;

/**
 * `u`: a token without a gradient; `z`: one whose weight is 0; `p1` to `p5` and `n1` to `n5`: pushed up or down, the
 * strongest last; `q`: trained, and not measured how strongly. Padding without a gradient has no look.
 */
export type Look = 'u' | 'z' | 'q' | `p${number}` | `n${number}`;

/** Around a token: it is wrong; or it should be trained and is not, which nobody blames. */
export type Frame = 'wrong' | 'miss';

/** Columns [from, to) of one row. */
export interface Span<Kind> {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
}

/** The row's ids, and one column more where something behind its end was trained. */
export function columnsOf({ ids, trained }: LedgerRow): number {
  return ids.length + (trained[ids.length] === undefined ? 0 : 1);
}

/** @param scale the largest |weight| of the page */
export function looksOf(row: LedgerRow, scale: number): readonly Span<Look>[] {
  return spansOf(columnsOf(row), (at) => lookAt(row, at, scale));
}

export function framesOf({ row, marks }: Pick<ShownRow, 'row' | 'marks'>): readonly Span<Frame>[] {
  const wrong = new Set(marks);
  const trains = row.trained.some((each) => each !== undefined && each.weight !== 0);
  return spansOf(columnsOf(row), (at) => {
    if (wrong.has(at)) return 'wrong';
    const missed = trains && row.spans.expected[at] === true && row.trained[at] === undefined;
    // The first token of a row is a target of nothing.
    return missed && at > 0 ? 'miss' : undefined;
  });
}

/** The square root, so that the weights of a long row beside a short one can still be seen. */
export function levelOf(weight: number, scale: number): number {
  if (!Number.isFinite(weight)) return LEVELS;
  if (weight === 0) return 0;
  const share = scale > 0 ? Math.sqrt(Math.min(1, Math.abs(weight) / scale)) : 0;
  return Math.max(1, Math.ceil(LEVELS * share));
}

// --- helpers ---

function lookAt({ real, trained }: LedgerRow, at: number, scale: number): Look | undefined {
  const each = trained[at];
  if (each === undefined) return real[at] === true ? 'u' : undefined;
  const { weight } = each;
  if (weight === undefined) return 'q';
  const level = levelOf(weight, scale);
  return level === 0 ? 'z' : `${weight < 0 ? 'n' : 'p'}${level}`;
}

function spansOf<Kind>(length: number, kindAt: (at: number) => Kind | undefined): readonly Span<Kind>[] {
  const spans: Span<Kind>[] = [];
  for (let from = 0; from < length; ) {
    const kind = kindAt(from);
    let to = from + 1;
    while (to < length && kindAt(to) === kind) to++;
    if (kind !== undefined) spans.push({ kind, from, to });
    from = to;
  }
  return spans;
}
