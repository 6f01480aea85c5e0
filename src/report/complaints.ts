// What a run must not be called good for, most important first: one sentence each, where to look, and how to see it
// again. The reports for other programs (annotations, step summary, SARIF) tell the same story from here.
import type { Failure, PropertyResult, Replay } from '../check/events.ts';
import type { Level, Verdict } from '../vocabulary.ts';
import { troubleKey } from './failure.ts';
import { quoted } from './reproduce.ts';
import type { Run } from './runs.ts';
import { LOOKS } from './verdict.ts';

export interface Complaint {
  readonly run: Run;
  readonly result: PropertyResult;
  /** `error`: a case shows that something is wrong. `warning`: too little was tried, or a record is out of date. */
  readonly weight: 'error' | 'warning';
}

/** Failures before errors before the rest, `must` before `should`; a trainer that breaks alike everywhere is last of its kind. */
export function complaintsOf(run: Run): readonly Complaint[] {
  const seen = new Set<string>();
  return run.results
    .filter(({ verdict }) => ORDER.includes(verdict))
    .map((result) => {
      const key = troubleKey(result);
      const repeated = key !== undefined && seen.has(key);
      if (key !== undefined) seen.add(key);
      const place = [ORDER.indexOf(result.verdict), repeated ? 1 : 0, LEVELS.indexOf(result.level)];
      return { result, place };
    })
    .sort((a, b) => compare(a.place, b.place))
    .map(({ result }) => ({ run, result, weight: WARNINGS.includes(result.verdict) ? 'warning' : 'error' }));
}

/** What is wrong, in the words of the finding, the trainer's failure, or the reason. */
export function sentenceOf(result: PropertyResult): string {
  const { failure, verdict, reason, title } = result;
  const found = failure?.finding?.sentence ?? failure?.trainerFailure?.message;
  if (reason === undefined || verdict === 'known') return harmless(found ?? title);
  const word = LOOKS[verdict].word;
  const said = `${word.slice(0, 1).toUpperCase()}${word.slice(1)}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
  return harmless(found === undefined ? said : `${found} ${said}`);
}

/** It ended before every property had its turn, or has not ended yet. */
export function isCutOff({ end }: Run): boolean {
  return end === undefined || end.interrupted;
}

/** How many properties have a result that says something, and how many were asked for. */
export function reached({ start, results }: Run): string {
  const judged = results.filter(({ verdict }) => verdict !== 'interrupted').length;
  return `${judged} of ${Math.max(start.properties.length, results.length)} properties`;
}

export function replayFor({ start }: Run): Replay {
  return start.replay ?? { command: 'npx trainproof replay' };
}

/** The case by its id; undefined where it was not saved. */
export function replayLine(run: Run, { caseId }: Failure): string | undefined {
  const { command, folder } = replayFor(run);
  return folder === undefined ? undefined : `${command} ${caseId}`;
}

/** `againLine` of a property; undefined where drawing again shows nothing, because only the list of known failures is wrong. */
export function againFor(run: Run, { id, verdict }: PropertyResult): string | undefined {
  return verdict === 'stale' || verdict === 'unseen' ? undefined : againLine(run, id);
}

/** The same draw again, on a machine that has nothing of this run: one property, or all of the run's. */
export function againLine({ start }: Run, id?: string): string {
  if (start.replay?.again !== undefined) return start.replay.again;
  const level = LEVELS.findLast((each) => start.properties.some((property) => property.level === each));
  const all = level === undefined || level === 'must' ? '' : ` --level ${level}`;
  const which = id === undefined ? all : ` --only ${quoted(id)}`;
  const command = start.command === '' ? '' : ` -- ${start.command}`;
  return harmless(`npx trainproof check --seed ${start.seed} --cases ${start.cases}${which}${command}`);
}

/**
 * A name for each trainer that stays the same from run to run, as far as it tells the runs apart: its name without
 * its version. CI systems follow a test, and code scanning an alert, by it.
 */
export function lastingNames(runs: readonly Run[]): readonly string[] {
  const names = runs.map(({ start: { hello } }) => harmless(hello.name));
  return names.map((name, at) => {
    const before = names.slice(0, at).filter((other) => other === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
  });
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

/** Text of a trainer or a token made safe to pass on: what controls a screen, turns the line around or is half a character is written out. */
export function harmless(text: string): string {
  return text.replaceAll(HARMFUL, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** At most `most` characters, and never half of one. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The verdicts that fail a run, most important first. */
const ORDER: readonly Verdict[] = ['fail', 'error', 'changed', 'thin', 'stale', 'unseen'];
const WARNINGS: readonly Verdict[] = ['thin', 'stale', 'unseen'];
const LEVELS: readonly Level[] = ['must', 'should', 'may'];
/** In front of a command: `NAME=value`. */
const VARIABLE = /^[A-Za-z_]\w*=/;
const SCRIPT = /\.(?:py|[cm]?[jt]s|sh|rb|jl|lua|pl|R)$/;
// Controls but tab and newline, lone surrogates, and the marks and isolates that order text from right to left.
const HARMFUL = /(?![\t\n])[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
