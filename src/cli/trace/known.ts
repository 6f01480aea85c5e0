// Known failures of a traced run: what `check` does while it draws cases, said of a result that is there already.
import type { PropertyResult } from '../../check/events.ts';
import { changeOf, type KnownFailures } from '../../check/saved/known.ts';

/** The result as the list of known failures has it: known, changed, or no longer there. */
export function asKnown(result: PropertyResult, known: KnownFailures): PropertyResult {
  const entry = known[result.id];
  if (entry === undefined) return result;
  const { failure, others = [], verdict } = result;
  // What --strict asks is no failure that was lived with.
  if (verdict === 'ask') return result;
  if (verdict === 'pass')
    return {
      ...result,
      verdict: 'stale',
      reason: `it holds now, and is listed as known: ${entry.reason}`,
    };
  if (failure === undefined)
    return {
      ...result,
      verdict: 'unseen',
      reason: `it is listed as known (${entry.reason}) and was not judged: ${result.reason ?? 'no row says anything of it'}`,
    };
  // The rules of a ledger have no labels.
  const change = changeOf(entry, [failure, ...others], () => []);
  return change === undefined
    ? {
        ...result,
        verdict: 'known',
        reason: entry.reason,
        ...(entry.link === undefined ? {} : { link: entry.link }),
      }
    : { ...result, verdict: 'changed', reason: change };
}
