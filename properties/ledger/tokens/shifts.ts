// How wrong targets came about, as far as the ids tell; and wrong targets that are meant: a script may train a masked model,
// the words of a teacher, or the clean text behind inputs that it corrupts.
import { type Ids, type Ledger, type LedgerRow, realIds, sameIds } from '../../../src/index.ts';
import { seenAt } from './trained.ts';

/** A row with targets that are not the tokens that follow. */
export interface OffTarget {
  readonly row: LedgerRow;
  readonly wrong: readonly number[];
  /** All that were compared. */
  readonly columns: readonly number[];
}

/** How a wrong target came about, as far as the ids tell. */
export interface Shift {
  readonly kind: string;
  readonly words: string;
  readonly todo: string;
  /** The id that stands at column t if this is what happened. */
  readonly target: (row: LedgerRow, column: number) => number | undefined;
}

const SHIFTS: readonly Shift[] = [
  {
    kind: 'the token itself',
    words: 'the token that the model had just read, and not the one that follows',
    todo: 'Labels and logits were never shifted against each other: compare logits[:, :-1] with labels[:, 1:], once.',
    target: ({ ids }, t) => ids[t - 1],
  },
  {
    kind: 'the one after next',
    words: 'the token after the one that follows',
    todo: 'Labels were shifted twice: shift them in the data or in the loss, not in both. Models of transformers shift by themselves.',
    target: ({ ids }, t) => ids[t + 1],
  },
  {
    kind: 'two back',
    words: 'a token that the model had read before the last one',
    todo: 'Labels were shifted the wrong way: position t predicts the token at t + 1.',
    target: ({ ids }, t) => ids[t - 2],
  },
];

/** What most of the wrong targets are explained by; short rows and repeated tokens may agree with several: the first. */
export function shiftOf(
  ledger: Ledger,
  row: LedgerRow,
  wrong: readonly number[],
): Pick<Shift, 'kind' | 'words' | 'todo'> | undefined {
  const candidates = [...SHIFTS, ...matesOf(ledger, row).map(asAnother)];
  const counts = candidates.map((shift) => explainedBy(shift, row, wrong));
  const most = Math.max(...counts);
  return most > wrong.length / 2 ? candidates[counts.indexOf(most)] : undefined;
}

/** The other rows of its batch. */
const matesOf = ({ rows }: Ledger, row: LedgerRow): readonly LedgerRow[] =>
  rows.filter((each) => each.rank === row.rank && each.forward === row.forward && each.row !== row.row);

const asAnother = (mate: { readonly row: number; readonly ids: Ids }): Shift => ({
  kind: "another row's",
  words: `the token of row ${mate.row} at that place`,
  todo: 'Labels and ids of the batch are in another order: whatever sorts, packs or repeats rows must do it to all of their tensors.',
  target: (_, t) => mate.ids[t],
});

/** Those that are meant, or may be: of what a shift explains beyond chance, none. */
export function meantTargets(ledger: Ledger, off: readonly OffTarget[]): ReadonlySet<OffTarget> {
  // Rows of one template share most of their tokens, so that another row's labels may be wrong in a few places only.
  const isShifted = (each: OffTarget): boolean =>
    standsOut(each, [...SHIFTS, ...matesOf(ledger, each.row).map(asAnother)]);
  const masked = (each: OffTarget): boolean =>
    !isMinority(each) && !isShifted(each) && isMaskedModel(off.filter(({ row }) => sameModel(row, each.row)));
  const scattered = off.filter((each) => isMinority(each) && !isShifted(each));
  const corrupted = isScattered(scattered) ? new Set(scattered) : new Set<OffTarget>();
  const taught = (each: OffTarget): boolean => hasTeacher(ledger, each) && !isShifted(each);
  return new Set(off.filter((each) => corrupted.has(each) || taught(each) || masked(each)));
}

// --- helpers ---

const sameModel = (a: LedgerRow, b: LedgerRow): boolean => a.model === b.model && a.rank === b.rank;

/** So many wrong targets agree with one shift by no chance. */
const TELLING = 3;

/** One of these explains most of it. */
function standsOut({ row, wrong }: OffTarget, shifts: readonly Shift[]): boolean {
  return shifts.some((shift) => {
    const count = explainedBy(shift, row, wrong);
    return count >= TELLING && count > wrong.length / 2;
  });
}

const explainedBy = (shift: Shift, row: LedgerRow, wrong: readonly number[]): number =>
  wrong.filter((t) => shift.target(row, t) === row.trained[t]?.target).length;

/**
 * One id stands where most of the wrong targets are predicted, and is none of them: the mask of a model that looks both
 * ways, or of a diffusion over text. By the ids, as a script may name its classes as it likes.
 */
function isMaskedModel(off: readonly OffTarget[]): boolean {
  const counts = new Map<number, number>();
  let all = 0;
  for (const { row, wrong } of off)
    for (const t of wrong) {
      const before = row.ids[t - 1];
      all++;
      // Labels that belong to a longer row reach into the padding, which masks nothing.
      if (before !== undefined && row.real[t - 1] === true && before !== row.trained[t]?.target)
        counts.set(before, (counts.get(before) ?? 0) + 1);
    }
  const shifted = SHIFTS.some(
    (shift) => off.reduce((sum, { row, wrong }) => sum + explainedBy(shift, row, wrong), 0) > all / 2,
  );
  return all >= TELLING && !shifted && Math.max(0, ...counts.values()) > all / 2;
}

const isMinority = ({ wrong, columns }: OffTarget): boolean => wrong.length * 2 < columns.length;

/** Inputs that are corrupted on purpose, with clean labels: some targets here and there, and not one certain place. */
function isScattered(off: readonly OffTarget[]): boolean {
  const count = off.reduce((sum, { wrong }) => sum + wrong.length, 0);
  const placed = off.filter(
    ({ wrong, columns }) => wrong.length === 1 && (wrong[0] === columns[0] || wrong[0] === columns.at(-1)),
  );
  return count >= TELLING && placed.length <= off.length / 2;
}

/** Another model read the row just before, or handed whole distributions over: its words may be the targets. */
function hasTeacher({ scored }: Ledger, { row }: OffTarget): boolean {
  const ids = realIds(row);
  return (
    row.ids.some((_, t) => seenAt(row, t) === 'unclear') ||
    scored.some((each) => each.by === 'reference' && each.step === row.step && sameIds(realIds(each), ids))
  );
}
