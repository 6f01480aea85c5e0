// A reading of logs as the events that `check` emits, so that every report reads it: each rule over all runs, the first
// violation of each run that breaks it, with the series around it.

import {
  type Failure,
  NOT_TRIED,
  type PropertyFacts,
  type PropertyResult,
  type Replay,
  type RunEvent,
} from '../check/events.ts';
import type { Finding } from '../check/property.ts';
import { caseId } from '../check/saved/saved-case.ts';
import { PROTOCOL } from '../protocol/message.ts';
import { VERSION } from '../version.ts';
import type { History, RuleState } from './history/history.ts';
import type { MonitorRule, SampleTokens, Violation } from './rule.ts';
import { stripOfSample } from './samples/strip.ts';
import { givenOf, windowOf } from './window.ts';

/** What only the caller of a reading knows. */
export interface ReadingFacts {
  /** What is read, as the reports name it: `runs/grpo`. */
  readonly name: string;
  /** As typed. */
  readonly command: string;
  readonly replay: Replay;
  /** ISO 8601 in UTC. */
  readonly started: string;
  readonly milliseconds: number;
  readonly interrupted: boolean;
  readonly tokens?: SampleTokens;
}

/**
 * The verdicts on what was read so far, as the events of one run. After `history.end()` they are final; before, a rule that
 * only the end of a log can break has not been broken yet. `change` is what a list of known failures makes of a result.
 */
export function judgeHistory(
  history: History,
  rules: readonly MonitorRule[],
  facts: ReadingFacts,
  emit: (event: RunEvent) => void,
  change: (result: PropertyResult) => PropertyResult = (result) => result,
): readonly PropertyResult[] {
  emit(startOf(history, rules, facts));
  const results = causesFirst(history, rules).map((rule, index) => {
    emit({ type: 'property-start', id: rule.id, index, total: rules.length });
    const result = change(resultOf(history, rule, facts.tokens));
    emit({ type: 'property-end', result });
    return result;
  });
  emit({ type: 'run-end', interrupted: facts.interrupted, milliseconds: facts.milliseconds });
  return results;
}

/** A rule in all runs. */
export function resultOf(history: History, rule: MonitorRule, tokens?: SampleTokens): PropertyResult {
  const states = statesOf(history, rule);
  const { id, title, level } = rule;
  const judged = states.reduce((sum, { watch }) => sum + watch.judged(), 0);
  const bare = { id, title, level, ...NOT_TRIED, cases: judged };
  const broken = states.filter(({ violations }) => violations.length > 0);
  if (broken.length > 0)
    return {
      ...bare,
      verdict: 'fail',
      failure: failureOf(history, rule, broken, states.length, judged, tokens),
    };
  const faulty = states.find(({ error }) => error !== undefined);
  if (faulty !== undefined)
    return {
      ...bare,
      verdict: 'error',
      reason: `the rule itself failed in ${faulty.run}, which is a fault of lossproof: ${faulty.error ?? ''}`,
    };
  if (judged > 0) return { ...bare, verdict: 'pass' };
  if (!states.some(({ seen }) => seen))
    return { ...bare, verdict: 'unsupported', reason: missingOf(rule, history) };
  const [why] = states.flatMap(({ seen, watch }) => (seen ? [watch.why?.()] : [])).filter(Boolean);
  return { ...bare, verdict: 'skipped', reason: why ?? 'nothing of what was logged let it judge' };
}

// --- helpers ---

/** Nothing is drawn. */
const NO_SEED = 0;
/** Further runs and series that are told in words; all are counted. */
const MOST_TOLD = 4;
/** Plots of one rule: a fourth run shows the same. */
const MOST_WINDOWS = 3;
/** Behind every step, and still a number that can be subtracted. */
const LAST = Number.MAX_VALUE;
/** Samples that are shown whole. */
const MOST_STRIPS = 3;

function startOf(
  history: History,
  rules: readonly MonitorRule[],
  { name, command, replay, started }: ReadingFacts,
): RunEvent {
  return {
    type: 'run-start',
    seed: NO_SEED,
    cases: history.points() + history.samples(),
    hello: { protocol: PROTOCOL, name, ops: {} },
    command,
    properties: rules.map(factsOf),
    version: VERSION,
    started,
    replay,
  };
}

function factsOf({ id, title, stage, level, why, catches }: MonitorRule): PropertyFacts {
  return { id, title, stage, level, why, catches };
}

/** The rule that broke first is nearest to the cause: it is told before those that broke of it. Others keep their order. */
function causesFirst(history: History, rules: readonly MonitorRule[]): readonly MonitorRule[] {
  const broke = new Map(
    rules.map((rule) => {
      const steps = statesOf(history, rule).flatMap(({ violations }) => violations.map(stepOf));
      return [rule, steps.reduce((least, step) => Math.min(least, step), LAST)];
    }),
  );
  return rules.toSorted((a, b) => (broke.get(a) ?? LAST) - (broke.get(b) ?? LAST));
}

function statesOf(history: History, rule: MonitorRule): RuleState[] {
  return history.runs().flatMap(({ rules }) => rules.filter((state) => state.rule === rule));
}

function missingOf({ roles, samples }: MonitorRule, history: History): string {
  if (samples === true && roles.length === 0) return 'no rollouts were read; --rollouts PATH names them';
  const held = history
    .runs()
    .flatMap(({ series }) => series)
    .filter(({ role, evaluation }) => evaluation && role !== undefined && roles.includes(role));
  // They are there, and are not what it asks for.
  const [first] = held;
  if (first !== undefined) return `of ${roles.join(' or ')} only evaluations are logged (${first.name})`;
  const named = roles.length === 0 ? 'no series' : `no series of ${roles.join(' or ')}`;
  const also = samples === true ? ', and no rollouts were read' : '';
  return `${named} is logged${also}`;
}

interface Told {
  readonly run: string;
  readonly violation: Violation;
}

function failureOf(
  history: History,
  rule: MonitorRule,
  broken: readonly RuleState[],
  runs: number,
  judged: number,
  tokens: SampleTokens | undefined,
): Failure {
  const byRun = broken.map(({ run, violations }): Told[] =>
    violations.toSorted((a, b) => stepOf(a) - stepOf(b)).map((violation) => ({ run, violation })),
  );
  // The first of each run before the second of any.
  const told = [...byRun.flatMap((all) => all.slice(0, 1)), ...byRun.flatMap((all) => all.slice(1))];
  const [first] = told as [Told];
  const more = broken.reduce((sum, state) => sum + state.more, 0);
  const given = givenOf(history, first.run, first.violation);
  return {
    caseId: caseId(rule.id, given),
    finding: findingOf(history, rule, told, { more, runs, broken: broken.length, tokens }),
    given,
    casesToFail: Math.max(1, judged),
    shrinks: 0,
    confirmed: 'not re-run',
    seed: NO_SEED,
    lines: [],
  };
}

function stepOf({ step }: Violation): number {
  return step ?? LAST;
}

interface Around {
  readonly more: number;
  readonly runs: number;
  readonly broken: number;
  readonly tokens: SampleTokens | undefined;
}

function findingOf(
  history: History,
  rule: MonitorRule,
  told: readonly Told[],
  { more, runs, broken, tokens }: Around,
): Finding {
  const [first, ...others] = told as [Told, ...Told[]];
  const say = ({ run, violation }: Told): string =>
    runs > 1 ? `In ${run}: ${violation.sentence}` : violation.sentence;
  const windows = told.flatMap(({ run, violation }) => windowOf(history, rule.id, run, violation) ?? []);
  const strips = told.flatMap(({ violation }, at) => stripOfSample(violation, at, tokens) ?? []);
  const rest = others.length - MOST_TOLD + more;
  const note = [
    ...(runs > 1 ? [`${broken} of ${runs} runs ${broken === 1 ? 'breaks' : 'break'} this rule.`] : []),
    ...others.slice(0, MOST_TOLD).map((each, at) => (at === 0 ? `Also: ${say(each)}` : say(each))),
    ...(others.length > MOST_TOLD || more > 0
      ? [
          `It is broken ${Math.max(more, rest).toLocaleString('en')} more ${Math.max(more, rest) === 1 ? 'time' : 'times'}.`,
        ]
      : []),
  ].join(' ');
  return {
    kind: first.violation.kind,
    sentence: say(first),
    ...(windows.length === 0 ? {} : { series: windows.slice(0, MOST_WINDOWS) }),
    ...(strips.length === 0 ? {} : { strips: strips.slice(0, MOST_STRIPS) }),
    advice: rule.advice,
    ...(note === '' ? {} : { note }),
  };
}
