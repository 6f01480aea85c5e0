// Which sampled tokens a correct trainer may legally have left out one by one, so that a missing one says nothing: a
// clipped ratio has no gradient. Not known here: what the ratio was; known: whether there can have been one.
import type { Ledger, LedgerRow, Spans } from '../../../src/index.ts';
import { groupRelative } from '../weights/declared.ts';
import { isOffTarget, isSampled, lostInRounding, seenAt } from './trained.ts';

export type Completion = Spans['completions'][number];

/** One sampled sequence in a trained row, and which of its tokens have no gradient. */
export interface Judged {
  readonly row: LedgerRow;
  readonly completion: Completion;
  /** Columns that are to be trained, the stop token left out. */
  readonly content: readonly number[];
  readonly missing: readonly number[];
  /** Each missing token counts: none can have been clipped. */
  readonly strict: boolean;
}

/** The completions of which something was trained, and how many were left out whole. */
export function judgedCompletions(ledger: Ledger): { judged: Judged[]; leftOut: number } {
  const judged: Judged[] = [];
  let leftOut = 0;
  for (const row of ledger.rows) {
    if (!row.reached || !isSampled(row) || isOffTarget(row)) continue;
    for (const completion of row.spans.completions) {
      const { from, to, stop } = completion;
      // A completion that was cut need not be trained; one that is, is trained whole.
      const content = columnsOf(from, stop ?? to).filter((t) => row.spans.expected[t] !== false);
      // A group without reward variance, or a truncated completion that is left out: legal, and whole.
      if (columnsOf(from, to).every((t) => seenAt(row, t) === 'no')) leftOut++;
      else
        judged.push({
          row,
          completion,
          content,
          missing: content.filter((t) => isMissing(row, t)),
          strict: isFresh(ledger, row) && !masksTokens(ledger) && isLevel(row, completion),
        });
    }
  }
  if (groupRelative(ledger.settings) === undefined && hasTokenRewards(judged))
    return { judged: judged.map((each) => ({ ...each, strict: false })), leftOut };
  return { judged, leftOut };
}

/**
 * Rewards token by token, or from a token on, are 0 at many: tokens of several ids are missing in several completions, and
 * not in one place. A mask that is cut or shifted misses the ends, one that is made of ids misses one id.
 */
function hasTokenRewards(judged: readonly Judged[]): boolean {
  const ids = new Set<number>();
  let rows = 0;
  for (const { row, content, missing, strict } of judged) {
    const inner = missing.filter((t) => t !== content[0] && t !== content.at(-1));
    if (!strict || inner.length === 0) continue;
    rows++;
    for (const t of inner) ids.add(row.ids[t] ?? -1);
  }
  return rows >= SEVERAL && ids.size >= SEVERAL;
}

/** Fewer may be one mistake in one place. */
const SEVERAL = 3;

/** No gradient, where there would be one however sure the model is. */
export const isMissing = (row: LedgerRow, column: number): boolean =>
  seenAt(row, column) === 'no' && !lostInRounding(row, column);

/**
 * Of those that are not strict, the ones that miss the token that `pick` names, if all do, more often than chance has it: tokens
 * elsewhere are missing now and then, and in the same place of every completion by accident only once in a million. But where
 * strict ones have a gradient there, the mask has the place: an update moves all stop tokens alike, and clips them alike.
 */
export function missedByAll(
  all: readonly Judged[],
  pick: (each: Judged) => number | undefined,
): readonly { readonly each: Judged; readonly column: number }[] {
  const isShown = ({ row, strict }: Judged, column: number | undefined): boolean =>
    strict && column !== undefined && seenAt(row, column) === 'yes';
  if (all.some((each) => isShown(each, pick(each)))) return [];
  const loose = all.filter(({ strict }) => !strict);
  const picked = loose.flatMap((each) => {
    const column = pick(each);
    return column === undefined ? [] : [{ each, column }];
  });
  if (!picked.every(({ each, column }) => isMissing(each.row, column))) return [];
  let [missing, tokens] = [1, 1];
  for (const { each, column } of picked) {
    missing += each.missing.filter((t) => t !== column).length;
    tokens += each.content.filter((t) => t !== column).length;
  }
  return (missing / tokens) ** picked.length < CHANCE ? picked : [];
}

/** As for labels too rare in a run of `check`. */
const CHANCE = 1e-6;

// --- helpers ---

export const columnsOf = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at).filter((t) => t > 0);

/** The policy has not moved since it sampled: every ratio is 1, and nothing is clipped. */
function isFresh({ generations }: Ledger, { spans, step }: LedgerRow): boolean {
  const { origin } = spans;
  return origin.kind === 'generation' && origin.generations.every((at) => generations[at]?.step === step);
}

/** TRL trains, where it is told to, the tokens of high entropy only. */
function masksTokens({ settings }: Ledger): boolean {
  const share = settings.values.top_entropy_quantile;
  return typeof share === 'number' && share < 1;
}

/**
 * One advantage moves the whole completion. Where its weights differ much, or in sign, each token has its own, or the KL
 * term is all there is, and that may be nothing at a token where policy and reference agree.
 */
function isLevel(row: LedgerRow, { from, to }: Completion): boolean {
  const weights = columnsOf(from, to).flatMap((t) => {
    const weight = row.trained[t]?.weight;
    return weight === undefined || weight === 0 ? [] : [weight];
  });
  const sizes = weights.map(Math.abs);
  return (
    new Set(weights.map(Math.sign)).size <= 1 && Math.max(0, ...sizes) <= LEVEL * Math.min(Infinity, ...sizes)
  );
}

/** A KL term beside an advantage moves weights by less than this; one alone, by any factor. */
const LEVEL = 4;
