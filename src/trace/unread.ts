// Positions with a gradient of which the target or the weight could not be read, as sentences: at how many, why, and what to do.
import type { LedgerRow } from './ledger.ts';

/** Why, as a `trained` record names it. */
const REASONS = {
  value: [
    'the target is right, but its logit was not kept, and the trace saw no head that computes it again',
    'Name the head in the script: lossproof_trace.watch(model, head=...). Or hand the model the targets, too, as its argument labels or targets.',
  ],
  faint: [
    'the model is so sure of one token that the gradient of every other one is too small to read',
    'Nothing needs to be done.',
  ],
  temperature: [
    'a temperature other than 1 explains the gradient, and so does label smoothing or an entropy term: the distribution is too even to tell them apart',
    'Trace a model that is trained further, or train in float32 for the traced steps.',
  ],
  search: [
    'the target is no likely one, and the cheap mode looks for few of these in the whole vocabulary',
    'Use --mode exact to look for all of them.',
  ],
  twins: ['the head has two tokens with nearly the same row', 'Nothing needs to be done.'],
  sure: [
    'the model is so sure of the target that rounding hides the rest of its gradient',
    'Nothing needs to be done.',
  ],
} as const satisfies Readonly<Record<string, readonly [why: string, advice: string]>>;

/** @param all trained positions of these rows */
export function unreadSentences(rows: readonly LedgerRow[], all: number): readonly string[] {
  // Every row of a forward pass has the counts of all of it.
  const forwards = new Map(rows.map((row) => [`${row.rank} ${row.forward}`, row.unread ?? {}]));
  return Object.entries(REASONS).flatMap(([name, [why, advice]]) => {
    const count = [...forwards.values()].reduce((sum, counts) => sum + (counts[name] ?? 0), 0);
    return count === 0
      ? []
      : [
          `At ${count} of ${all} trained positions the weight is not known (\`?\`), and no rule judges it: ${why}. ${advice}`,
        ];
  });
}

/** Counts of several records added up; those that are no numbers are passed over. */
export function addedUp(
  records: readonly (Readonly<Record<string, unknown>> | null | undefined)[],
): Readonly<Record<string, number>> {
  const out: Record<string, number> = {};
  for (const record of records)
    for (const name of Object.keys(REASONS)) {
      const count = record?.[name];
      if (Number.isSafeInteger(count) && Number(count) > 0) out[name] = (out[name] ?? 0) + Number(count);
    }
  return out;
}
