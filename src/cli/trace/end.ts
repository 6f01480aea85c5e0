// How a traced script ended, as far as that is a verdict: one that failed by itself is no pass, whatever it had trained.
import type { PropertyResult } from '../../check/events.ts';
import { plural } from '../../report/text/plural.ts';
import type { Ledger } from '../../trace/ledger.ts';
import { exitCodeOf, HOLDS, NO_VERDICT } from '../exit.ts';
import { endWords, type ScriptEnd } from './script.ts';

/**
 * A sentence where the script failed by itself; undefined where it did not. One that was ended after its steps may end as
 * it likes: that is our doing. `end` is undefined of a recorded trace, which says itself how its processes ended.
 */
export function failureOf(ledger: Ledger, end: ScriptEnd | undefined): string | undefined {
  const { processes } = ledger;
  const ends = processes.flatMap((each) => (each.end === undefined ? [] : [each.end]));
  if (end?.interrupted === true || ends.some(({ reason }) => reason === 'steps')) return undefined;
  const raised = ends.find(({ reason }) => reason === 'exception');
  const failed = end !== undefined && (end.exit.exitCode !== 0 || end.exit.signal !== undefined);
  if (end === undefined && ends.length === 0)
    return `The script was cut off ${whenOf(ledger)}: none of its processes came to an end.`;
  if (!failed && raised === undefined) return undefined;
  const how = failed ? endWords(end.exit) : (raised?.exception ?? 'an exception');
  const judged =
    ledger.rows.length === 0
      ? 'nothing was trained, so that there is nothing to judge'
      : 'what was trained until then is judged';
  return `The script failed by itself ${whenOf(ledger)} (${how}): ${judged}.`;
}

/** What was seen of a run, beside the results. */
export interface Seen {
  readonly sawTraining: boolean;
  /** Not all of it could be seen. */
  readonly blind: boolean;
  /** How the script failed by itself. */
  readonly failure: string | undefined;
  /** Ids of the properties of which one at least must hold. */
  readonly telling: ReadonlySet<string>;
  /** What to add, so that more is judged. */
  readonly advice: string | undefined;
}

/** The exit code of a run that was not interrupted; `why` where it is no verdict. Nothing that was not seen is a pass. */
export function verdictOf(
  results: readonly PropertyResult[],
  seen: Seen,
): { readonly code: number; readonly why?: string } {
  const code = exitCodeOf(results, false);
  const held = results.filter(({ verdict }) => verdict === 'pass' || verdict === 'known');
  const tells = held.some(({ id }) => seen.telling.has(id));
  const whole = seen.sawTraining && !seen.blind && seen.failure === undefined;
  if (code !== NO_VERDICT && (code !== HOLDS || (whole && tells))) return { code };
  return { code: NO_VERDICT, why: noVerdict(seen, tells, held.length) };
}

// --- helpers ---

function noVerdict({ sawTraining, blind, failure, advice }: Seen, tells: boolean, holding: number): string {
  if (!sawTraining) return 'No verdict: no trained token was seen, so that nothing here is a pass.';
  if (blind) return 'No verdict: not all of what was trained could be seen, as said above.';
  if (failure !== undefined && tells)
    return 'No verdict: what was trained holds, but the script failed, and what it would have trained is not known.';
  const why =
    holding === 0
      ? 'no property could judge what was seen'
      : `${plural(holding, 'property holds', 'properties hold')}, and none of them says which tokens should be trained, how strongly, or what was sampled`;
  return `No verdict: ${why}.${advice === undefined ? '' : ` Missing: ${advice}.`}`;
}

function whenOf({ steps }: Ledger): string {
  const made = steps.filter(({ ranks }) => ranks.some(({ done }) => done !== undefined)).length;
  return made === 0 ? 'before its first step' : `after ${plural(made, 'step')}`;
}
