// The parts of a run as one: each property's result once, in the properties' order, told as a single run would have told it.
// Parts that do not belong together, or are not all there, are no verdict: what is wrong is said, all of it.
import { isDeepStrictEqual } from 'node:util';
import type { PropertyResult, ShardFacts } from '../check/events.ts';
import { settled } from '../check/parallel/settle.ts';
import { joinedTally, lacksOf } from '../check/refusals.ts';
import { parseStrict } from '../outside/json.ts';
import { renewedIn } from '../trainer/renewal.ts';
import { cutOffWords, isCutOff, isJudged, type Run, type RunStart, reached } from './runs.ts';

export interface Part {
  readonly run: Run;
  /** Where it was read, for whoever must mend it. */
  readonly name: string;
}

export type Merged = { readonly run: Run } | { readonly problems: readonly string[] };

/** One run of all parts, or why there is none, a sentence each. */
export function merged(parts: readonly Part[]): Merged {
  const damaged = parts.flatMap(damage);
  if (damaged.length > 0) return { problems: damaged };
  const [first, ...others] = parts.flatMap(sharded);
  if (first === undefined) return { problems: parts.map(({ name }) => whole(name)) };
  const mixed = others.filter(({ shard }) => shard.of !== first.shard.of);
  if (mixed.length > 0) return { problems: mixed.flatMap((part) => strange(part, first)) };
  const problems = [
    ...parts.filter(({ run }) => run.start.shard === undefined).map(({ name }) => whole(name)),
    ...others.flatMap((part) => strange(part, first)),
    ...doubled([first, ...others]),
    ...missing([first, ...others]),
    ...[first, ...others].flatMap(unfinished),
  ];
  if (problems.length === 0 && !isAll([first, ...others]))
    problems.push('the parts do not hold each property of the run once: run them all again');
  if (problems.length > 0) return { problems: [...new Set(problems)] };
  return { run: joined([first, ...others]) };
}

/** More parts than any catalogue has properties. */
const MOST_PARTS = 10_000;

/** A file that was edited, or written by something else. */
function damage({ run, name }: Part): readonly string[] {
  const { shard, properties } = run.start;
  if (shard === undefined) return [];
  const { index, of, total, places } = shard;
  const isWhole = (value: number, least: number, most: number): boolean =>
    Number.isInteger(value) && value >= least && value <= most;
  const sound =
    isWhole(of, 1, MOST_PARTS) &&
    isWhole(index, 1, of) &&
    places.length === properties.length &&
    places.every((place) => isWhole(place, 0, total - 1)) &&
    new Set(properties.map(({ id }) => id)).size === properties.length;
  return sound ? [] : [`${name} is damaged: it does not say which part of which run it is; run it again`];
}

/** Every place of the run is in one part, and no property in two. */
function isAll(parts: readonly Shard[]): boolean {
  const places = parts.flatMap(({ shard }) => shard.places);
  const ids = parts.flatMap(({ run }) => run.start.properties.map(({ id }) => id));
  const total = parts[0]?.shard.total ?? 0;
  return places.length === total && new Set(places).size === total && new Set(ids).size === total;
}

interface Shard extends Part {
  readonly shard: ShardFacts;
}

function sharded(part: Part): readonly Shard[] {
  const { shard } = part.run.start;
  return shard === undefined ? [] : [{ ...part, shard }];
}

const whole = (name: string): string =>
  `${name} is a whole run and no part of one; \`lossproof report\` shows several runs beside each other`;

/** What must be the same in all parts, and how it is called. */
const SAME: readonly (readonly [string, (start: RunStart) => unknown])[] = [
  ['another version of lossproof', ({ version }) => version],
  ['another seed', ({ seed }) => seed],
  ['another number of cases', ({ cases }) => cases],
  ['another trainer', ({ name, hello, command, bundled }) => [name, hello, command, bundled]],
  ['another configuration', ({ configured }) => configured],
  ['another measurement of what the trainer leaves undeclared', ({ measured }) => measured],
  ['other properties', ({ shard, notRun, asked }) => [shard?.total, notRun, asked?.properties]],
  ['other known failures', ({ asked }) => asked?.known],
  ['another --strict', ({ asked }) => asked?.strict],
];

function strange(part: Shard, first: Shard): readonly string[] {
  if (part.shard.of !== first.shard.of)
    return [
      `${part.name} is one of ${part.shard.of} parts, and ${first.name} one of ${first.shard.of}: they are parts of different runs; delete those of the older one, or name the files`,
    ];
  const other = differenceOf(part.run.start, first.run.start);
  return other === undefined
    ? []
    : [`${part.name} is of ${other} than ${first.name}: they are parts of different runs`];
}

/** In what two beginnings are not of one run: "another seed"; undefined where they may be. */
export function differenceOf(one: RunStart, other: RunStart): string | undefined {
  const found = SAME.find(([, of]) => !isDeepStrictEqual(plain(of(one)), plain(of(other))));
  return found?.[0];
}

/** As it is read again from a file: what is undefined is not there. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : parseStrict(JSON.stringify(value));
}

function doubled(parts: readonly Shard[]): readonly string[] {
  return parts.flatMap(({ shard, name }, at) => {
    const before = parts.slice(0, at).find((other) => other.shard.index === shard.index);
    return before === undefined
      ? []
      : [
          `part ${shard.index} of ${shard.of} is there twice, in ${before.name} and ${name}: name one of them`,
        ];
  });
}

function missing(parts: readonly Shard[]): readonly string[] {
  const of = Math.max(...parts.map(({ shard }) => shard.of));
  const there = new Set(parts.map(({ shard }) => shard.index));
  const lost = Array.from({ length: of }, (_, at) => at + 1).filter((index) => !there.has(index));
  if (lost.length === 0) return [];
  const [only] = lost;
  return lost.length === 1
    ? [`part ${only} of ${of} is missing: run it with --shard ${only}/${of}`]
    : [`parts ${named(lost)} of ${of} are missing: run each with --shard i/${of}`];
}

/** More are counted, not named. */
const MOST_NAMED = 8;

function named(parts: readonly number[]): string {
  const more = parts.length - MOST_NAMED;
  return parts.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function unfinished({ run, name, shard }: Shard): readonly string[] {
  const { index, of } = shard;
  if (isCutOff(run))
    return [
      `part ${index} of ${of}, ${name}, is not finished. ${cutOffWords(run)}, after ${reached(run)}: run it again with --resume`,
    ];
  const judged = new Set(run.results.filter(isJudged).map(({ id }) => id));
  const lost = run.start.properties.filter(({ id }) => !judged.has(id));
  const [one] = lost;
  return one === undefined
    ? []
    : [
        `part ${index} of ${of}, ${name}, ends without a result of ${one.id}${lost.length > 1 ? ` and ${lost.length - 1} more` : ''}: run it again`,
      ];
}

function joined(parts: readonly Shard[]): Run {
  const { shard: _, resumed: __, ...start } = (parts[0] as Shard).run.start;
  const placed = parts.flatMap(({ run, shard }) =>
    run.start.properties.map((property, at) => ({ property, place: shard.places[at] as number })),
  );
  const properties = placed.sort((a, b) => a.place - b.place).map(({ property }) => property);
  const results = parts.flatMap(({ run }) => onceEach(run.results));
  const told = settled(properties, results);
  const ends = parts.flatMap(({ run: { end } }) => (end === undefined ? [] : [end]));
  const tally = joinedTally(ends.flatMap(({ tally }) => (tally === undefined ? [] : [tally])));
  const started = parts.flatMap(({ run }) => run.start.started ?? []).sort()[0];
  return {
    start: { ...start, properties, ...(started === undefined ? {} : { started }) },
    results: told,
    notices: parts.flatMap(({ run: { notices = [] }, shard }) =>
      notices.map((notice) => `part ${shard.index}: ${notice}`),
    ),
    end: {
      type: 'run-end',
      interrupted: false,
      // They ran side by side, or might have.
      milliseconds: Math.max(...ends.map(({ milliseconds }) => milliseconds)),
      ...lacksOf(tally, told, start.hello),
      ...renewedIn(ends.flatMap(({ renewed = [] }) => renewed)),
    },
  };
}

/** A part that was resumed tells what it had judged before again. */
function onceEach(results: readonly PropertyResult[]): readonly PropertyResult[] {
  return [...new Map(results.filter(isJudged).map((result) => [result.id, result])).values()];
}
