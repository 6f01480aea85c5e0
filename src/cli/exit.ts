// Exit codes, a contract documented in the README: scripts and CI jobs branch on them.
import type { PropertyFacts, PropertyResult } from '../check/events.ts';
import { mostlyRefused } from '../check/refused/lost.ts';
import { countVerdicts } from '../report/summary.ts';
import { plural } from '../report/text/plural.ts';
import { FAILING } from '../vocabulary.ts';

export const HOLDS = 0;
/** A property failed, errored or tried too little, or a known failure is another one, stale or unseen. */
export const FAILED = 1;
/** Usage, a trainer that never started, or nothing that ran: neither good nor bad is known. */
export const NO_VERDICT = 2;
/** 128 + SIGINT, as shells have it; of SIGTERM, too: a run that was stopped is one thing. */
export const INTERRUPTED = 130;

/** The ops that each property asks; empty where no trainer is asked. */
type Ops = readonly Pick<PropertyFacts, 'id' | 'ops'>[];

/** The code of a run. Nothing checked is never a success, nor is what was left out for want of time, nor an op that is mostly refused. */
export function exitCodeOf(
  results: readonly PropertyResult[],
  interrupted: boolean,
  facts: Ops = [],
): number {
  if (interrupted) return INTERRUPTED;
  const counts = countVerdicts(results);
  if (FAILING.some((verdict) => counts[verdict] > 0)) return FAILED;
  if (mostlyRefused(results, facts).length > 0) return NO_VERDICT;
  return counts.pass + counts.known > 0 && counts.interrupted === 0 ? HOLDS : NO_VERDICT;
}

/** Why results that are all there are no verdict. */
export function whyNoVerdict(results: readonly PropertyResult[], facts: Ops): string {
  if (countVerdicts(results).pass === 0)
    return 'nothing was checked; `lossproof doctor` says what the trainer lacks';
  const lost = mostlyRefused(results, facts).map(
    ({ op, lost }) =>
      `${plural(lost, 'property', 'properties')} that ${lost === 1 ? 'asks' : 'ask'} \`${op}\``,
  );
  return `no verdict: the trainer refused most cases of ${lost.join(', and of ')}. Answer these requests, or remove the op from the adapter`;
}
