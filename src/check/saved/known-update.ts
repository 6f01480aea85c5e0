// What a file of known failures becomes after a run, as values: new failures join it, changed ones are recorded as
// they are now, what holds or says nothing leaves. Reasons and links that people wrote stay. Nothing is written here.
import type { Failure, PropertyResult } from '../events.ts';
import { type KnownFailure, type KnownFailures, kindOf, UNEXPLAINED } from './known.ts';

export interface KnownUpdate {
  readonly known: KnownFailures;
  /** One line a change: "added mask/...: ...". */
  readonly changes: readonly string[];
  /** The results as they count now: what is recorded is known, what was removed is no longer held against the run. */
  readonly results: readonly PropertyResult[];
}

/**
 * @param own the entries of the file itself, without those that came with an adapter
 * @param all what the run was given
 * @param order every property id of the catalogue, in its order
 */
export function updateKnown(
  own: KnownFailures,
  all: KnownFailures,
  results: readonly PropertyResult[],
  order: readonly string[],
): KnownUpdate {
  const entries = new Map(Object.entries(own));
  const changes: string[] = [];
  const counted = results.map((result): PropertyResult => {
    const { id, verdict, failure, others = [], reason = '' } = result;
    switch (verdict) {
      case 'fail':
      case 'changed': {
        // An error is no failure: a trainer that cannot answer is put right, not recorded.
        if (failure?.finding === undefined || others.some(({ finding }) => finding === undefined))
          return result;
        const before = own[id] ?? all[id];
        entries.set(id, entryOf(before, failure, others));
        changes.push(
          before === undefined
            ? `added ${id}: ${failure.finding.sentence}`
            : `changed ${id}: ${reason}; the reason "${before.reason}" is kept, see whether it still says why${before.labels === undefined ? '' : '; which labels a case must have is recorded no longer'}`,
        );
        return { ...result, verdict: 'known' };
      }
      case 'stale':
      case 'unseen':
        if (!entries.delete(id)) return result;
        changes.push(`removed ${id}: ${reason}`);
        return { ...result, verdict: verdict === 'stale' ? 'pass' : 'skipped' };
      default:
        return result;
    }
  });
  const place = (id: string): number => (order.includes(id) ? order.indexOf(id) : order.length);
  const sorted = [...entries].sort(([a], [b]) => place(a) - place(b));
  return { known: Object.fromEntries(sorted), changes, results: counted };
}

function entryOf(
  before: KnownFailure | undefined,
  failure: Failure,
  others: readonly Failure[],
): KnownFailure {
  const kind = kindOf(failure);
  // What a run did not come upon is not gone: few cases of a kind are drawn, and time is short.
  const recorded = before?.kind === kind ? (before.kinds ?? []) : [];
  const kinds = [...new Set([...recorded, ...others.map(kindOf)])].filter((other) => other !== kind);
  return {
    reason: before?.reason ?? UNEXPLAINED,
    ...(before?.link === undefined ? {} : { link: before.link }),
    kind,
    ...(kinds.length === 0 ? {} : { kinds }),
    given: failure.given,
  };
}
