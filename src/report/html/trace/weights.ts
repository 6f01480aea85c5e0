// What the mask carpet draws of each token of a traced row: by what was trained there, and how strongly.
import type { LedgerRow } from '../../../trace/ledger.ts';
import type { ShownRow } from '../../trace/rows.ts';
import { type Frame, LEVELS, type Look, type Span, spansOf } from '../rows/looks.ts';

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
