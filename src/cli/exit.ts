// Exit codes, a contract documented in the README: scripts and CI jobs branch on them.
import type { PropertyResult } from '../check/events.ts';
import { isLostToRefusals, isMostlyRefused } from '../check/refused/lost.ts';
import { countVerdicts } from '../report/summary.ts';
import { plural } from '../report/text/plural.ts';
import { countOf } from '../report/verdict.ts';
import { FAILING } from '../vocabulary.ts';

export const HOLDS = 0;
/** A property failed, errored or tried too little, or a known failure is another one, stale or unseen. */
export const FAILED = 1;
/** Usage, a trainer that never started, or nothing that ran: neither good nor bad is known. */
export const NO_VERDICT = 2;
/** 128 + SIGINT, as shells have it; of SIGTERM, too: a run that was stopped is one thing. */
export const INTERRUPTED = 130;

/** The code of a run. Nothing checked is never a success, nor is what was left out for want of time, or mostly refused. */
export function exitCodeOf(results: readonly PropertyResult[], interrupted: boolean): number {
  if (interrupted) return INTERRUPTED;
  const counts = countVerdicts(results);
  if (FAILING.some((verdict) => counts[verdict] > 0)) return FAILED;
  if (isMostlyRefused(results)) return NO_VERDICT;
  return counts.pass + counts.known > 0 && counts.interrupted === 0 ? HOLDS : NO_VERDICT;
}

/** Why results that are all there are no verdict. */
export function whyNoVerdict(results: readonly PropertyResult[]): string {
  const lost = results.filter(isLostToRefusals).length;
  const holding = countVerdicts(results).pass;
  return isMostlyRefused(results) && holding > 0
    ? `no verdict: the trainer refused most cases of ${plural(lost, 'property', 'properties')}, and ${countOf('pass', holding)}`
    : 'nothing was checked; `lossproof doctor` says what the trainer lacks';
}
