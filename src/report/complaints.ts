// What a run must not be called good for, most important first: one sentence each, and where to look. The reports for
// other programs (annotations, step summary, JUnit, SARIF) tell the same story from here.
import type { PropertyResult } from '../check/events.ts';
import { LEVELS, type Verdict } from '../vocabulary.ts';
import { troubleKey } from './failure/blocks.ts';
import { explanationOf, failureLines, othersSaid, saidOf } from './failure/failure.ts';
import { replayFor } from './failure/reproduce.ts';
import { cutOffWords, notBegun, type Run, reached } from './runs.ts';
import { PLAIN } from './text/paint.ts';
import { clipped, harmless } from './text/visible.ts';
import { LOOKS } from './verdict.ts';

export interface Complaint {
  readonly run: Run;
  readonly result: PropertyResult;
  /** `error`: a case shows that something is wrong. `warning`: too little was tried, or a record is out of date. */
  readonly weight: 'error' | 'warning';
}

/** Failures before errors before the rest, `must` before `should`; last of their kind are those that another one explains or repeats. */
export function complaintsOf(run: Run): readonly Complaint[] {
  const seen = new Set<string>();
  return run.results
    .filter(({ verdict }) => ORDER.includes(verdict))
    .map((result) => {
      const key = troubleKey(result);
      const repeated = key !== undefined && seen.has(key);
      if (key !== undefined) seen.add(key);
      const later = repeated || result.failure?.explainedBy !== undefined;
      const place = [ORDER.indexOf(result.verdict), later ? 1 : 0, LEVELS.indexOf(result.level)];
      return { result, place };
    })
    .sort((a, b) => compare(a.place, b.place))
    .map(({ result }) => ({ run, result, weight: WARNINGS.includes(result.verdict) ? 'warning' : 'error' }));
}

/** What is wrong, in the words of the finding, the trainer's failure, or the reason. */
export function sentenceOf(result: PropertyResult): string {
  const { failure, verdict, reason, title } = result;
  const said = saidOf(failure);
  const found =
    said === undefined ? undefined : [said, ...othersSaid(result), ...explanationOf(failure)].join(' ');
  if (reason === undefined || verdict === 'known') return harmless(found ?? title);
  const word = LOOKS[verdict].word;
  const why = `${word.slice(0, 1).toUpperCase()}${word.slice(1)}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
  const answers = result.answers === undefined ? '' : ` Answered by ${result.answers.join(', or ')}.`;
  return harmless((found === undefined ? why : `${found} ${why}`) + answers);
}

/** Of a run that is cut off: what that means. */
export function cutOffSentence(run: Run): string {
  const never = notBegun(run);
  if (never !== undefined) return `${never} Nothing of it is known to hold.`;
  return `${cutOffWords(run)}, after ${reached(run)}: what was not tried is not known to hold.`;
}

/** The block of a failure as one text of at most about `most` characters: a page of a CI system is not scrolled for ever. */
export function blockWithin(result: PropertyResult, run: Run, width: number, most: number): string {
  const lines = failureLines(result, { width, paint: PLAIN, replay: replayFor(run), allWays: true });
  const text = harmless(lines.join('\n'));
  return text.length <= most ? text : `${clipped(text, most)}\n(the rest is left out)`;
}

/** The script that a trainer's command runs, as a path inside of the repository; undefined where none is named. */
export function scriptOf(command: string): string | undefined {
  for (const [, single, double, bare] of command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)) {
    const path = (single ?? double ?? bare ?? '').replaceAll('\\', '/').replace(/^(?:\.\/+)+/, '');
    if (!SCRIPT.test(path) || VARIABLE.test(path)) continue;
    const outside = /^(?:\/|[A-Za-z]:|~)/.test(path) || path.split('/').includes('..');
    return outside ? undefined : harmless(path);
  }
  return undefined;
}

/** The verdicts that fail a run, most important first. */
const ORDER: readonly Verdict[] = ['fail', 'error', 'ask', 'changed', 'thin', 'stale', 'unseen'];
const WARNINGS: readonly Verdict[] = ['thin', 'stale', 'unseen'];
/** In front of a command: `NAME=value`. */
const VARIABLE = /^[A-Za-z_]\w*=/;
const SCRIPT = /\.(?:py|[cm]?[jt]s|sh|rb|jl|lua|pl|R)$/;

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
