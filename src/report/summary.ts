// The final line, in words: "30 of 31 properties apply: 29 hold, 1 fails · seed 1836021 · 12.3 s".
import { isMuchLeftOut, type PropertyResult, type Replay, type Stopped } from '../check/events.ts';
import { LEVELS, VERDICTS, type Verdict } from '../vocabulary.ts';
import { BUNDLED, millisecondsOf, notBegun, type Run, type RunStart } from './runs.ts';
import { plural } from './text/plural.ts';
import { countOf, LOOKS } from './verdict.ts';

export interface RunFacts {
  /** Absent of a traced script, whose cases no seed draws. */
  readonly seed?: number;
  readonly milliseconds: number;
  readonly interrupted: boolean;
  /** It ended before every property had its turn, by itself. */
  readonly stopped?: Stopped;
  /** What must not be overlooked about this run. */
  readonly notes?: readonly string[];
  /** What a result is one of; default: a property. */
  readonly noun?: Noun;
}

/** One and several; and what they do to a trainer that offers what they ask for, if those that do not are not counted. */
export type Noun = readonly [string, string, applies?: readonly [string, string]];
const RULE: Noun = ['property', 'properties'];
const PROPERTY: Noun = [RULE[0], RULE[1], ['applies', 'apply']];

/** What the results of a run are: properties, or entries of golden files. */
export function nounOf(replay: Replay | undefined): Noun {
  if (replay?.logged === true) return ['rule', 'rules'];
  if (replay?.golden === true) return ['entry', 'entries'];
  return replay?.traced === true ? RULE : PROPERTY;
}

/** One line without colour. */
export function summaryLine(results: readonly Counted[], facts: RunFacts): string {
  return [
    ...(facts.interrupted ? ['interrupted'] : facts.stopped === undefined ? [] : [STOPPED[facts.stopped]]),
    countsLine(results, facts.noun),
    ...(facts.seed === undefined ? [] : [`seed ${facts.seed}`]),
    seconds(facts.milliseconds),
    ...(facts.notes ?? []),
  ].join(' · ');
}

const STOPPED: Readonly<Record<Stopped, string>> = { time: 'out of time', bail: 'stopped by --bail' };

/** What must not be overlooked about a run, as far as its beginning says it. */
export function notesOf({
  notRun = {},
  bundled,
  shard,
}: Pick<RunStart, 'notRun' | 'bundled' | 'shard'>): readonly string[] {
  const left = LEVELS.flatMap((level) => (notRun[level] ? [[notRun[level], level] as const] : []));
  const highest = left.at(-1)?.[1];
  const many = left.reduce((sum, [count]) => sum + count, 0);
  const counted = left.map(([count, level]) => `${count} ${level}`).join(' and ');
  return [
    ...(highest === undefined
      ? []
      : [`${counted} ${many === 1 ? 'property' : 'properties'} not run: --level ${highest}`]),
    ...(bundled === true ? [BUNDLED] : []),
    ...(shard === undefined
      ? []
      : [
          `part ${shard.index} of ${shard.of}, ${shard.places.length} of ${plural(shard.total, 'property', 'properties')}: no verdict before lossproof merge`,
        ]),
  ];
}

/** The final line of a run that was read again; one that has not ended says so. */
export function runLine(run: Run): string {
  const { start, results, end } = run;
  const never = notBegun(run);
  if (never !== undefined) return `not run · ${never}`;
  return summaryLine(results, {
    ...(start.replay?.traced === true ? {} : { seed: start.seed }),
    milliseconds: millisecondsOf(run),
    noun: nounOf(start.replay),
    interrupted: end?.interrupted ?? false,
    ...(end?.stopped === undefined ? {} : { stopped: end.stopped }),
    notes: [
      ...(end === undefined
        ? [`the run has not ended: ${results.length} of ${start.properties.length}`]
        : []),
      ...notesOf(start),
    ],
  });
}

/** Of a result, what the final line is made of. */
type Counted = Pick<PropertyResult, 'verdict'> &
  Partial<Pick<PropertyResult, 'cases' | 'rejected' | 'setAside'>>;

/**
 * `30 of 31 properties apply: 29 hold, 1 fails`: the verdict of a run as one sentence. A property that asks for what the
 * adapter does not offer says nothing about what it does.
 */
export function countsLine(results: readonly Counted[], [one, many, applies]: Noun = PROPERTY): string {
  const counts = countVerdicts(results);
  const few = results.filter(
    ({ verdict, cases = 0, rejected = 0, setAside = 0 }) =>
      verdict === 'pass' && isMuchLeftOut({ cases, rejected, setAside }),
  ).length;
  const all = plural(results.length, one, many);
  const left = applies === undefined ? 0 : counts.unsupported;
  const apply = results.length - left;
  const parts = ORDER.filter(
    (verdict) => counts[verdict] > 0 && (verdict !== 'unsupported' || applies === undefined),
  ).map(
    (verdict) =>
      countOf(verdict, counts[verdict]) + (verdict === 'pass' && few > 0 ? ` (${few} ${FEW})` : ''),
  );
  const which =
    left === 0 ? all : `${apply} of ${all} ${applies?.[apply === 1 || results.length === 1 ? 0 : 1]}`;
  if (apply === 0 && left > 0) return which;
  return `${which}: ${parts.length === 0 ? 'none ran' : parts.join(', ')}`;
}

const FEW = 'on less than 4/5 of the cases';

export function countVerdicts(
  results: readonly Pick<PropertyResult, 'verdict'>[],
): Readonly<Record<Verdict, number>> {
  const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>;
  for (const { verdict } of results) counts[verdict]++;
  return counts;
}

/** `840 ms`, `12.3 s`, `3 min 5 s`. */
export function seconds(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const whole = Math.round(milliseconds / 1_000);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

const ORDER = Object.keys(LOOKS) as Verdict[];
