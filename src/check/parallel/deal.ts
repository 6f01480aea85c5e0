// Which property is judged where, and when: dealt out to the parts of a run so that each is the same work, and queued for
// trainers that judge side by side or have little time. The verdicts do not hang on it.
import type { Costs, ShardName } from '../options.ts';
import type { Property } from '../property.ts';

/** A case of a property that has few, because each takes long, against a case of any other: measured on the bundled example. */
const DEAR = 50;
/** What the trainer does not offer takes no time, and is dealt out all the same. */
const UNASKED = 0.01;

/** What a property takes of a run, in cases of a usual one. The same on every machine. */
export function workOf({ ops, mostCases }: Property, cases: number, offered: object): number {
  if (!ops.every((op) => op in offered)) return UNASKED;
  return mostCases === undefined ? cases : Math.min(cases, mostCases) * DEAR;
}

/** Of these properties, those of one part, in their order: the dearest first, each to the part that has least by then. */
export function dealtTo(
  { index, of }: ShardName,
  properties: readonly Property[],
  work: (property: Property) => number,
): readonly Property[] {
  const loads: number[] = Array.from({ length: of }, () => 0);
  const mine = new Set<Property>();
  for (const property of properties.toSorted((a, b) => work(b) - work(a))) {
    const least = loads.indexOf(Math.min(...loads));
    loads[least] = (loads[least] ?? 0) + work(property);
    if (least === index - 1) mine.add(property);
  }
  return properties.filter((property) => mine.has(property));
}

export interface QueueOptions {
  readonly work: (property: Property) => number;
  readonly costs: Costs | undefined;
  readonly cases: number;
}

/** Properties that wait for their turn. */
export interface Queue {
  readonly left: () => number;
  take(): Property | undefined;
  /** One that was taken waits again. */
  putBack(property: Property): void;
  /** How long one took that was taken. */
  ended(property: Property, milliseconds: number): void;
}

/** In their order. */
export function queueOf(properties: readonly Property[]): Queue {
  const waiting = [...properties];
  return {
    left: () => waiting.length,
    take: () => waiting.shift(),
    putBack: (property) => void waiting.unshift(property),
    ended: () => undefined,
  };
}

/**
 * For several trainers side by side: the longest first, so that none is left alone with one of them at the end. Where no earlier run
 * says how long they take, one of each op comes first, and what it takes says it of the others: a batch that is scored takes ten
 * times as long as one that is put together, and only the trainer knows which.
 */
export function longestFirst(properties: readonly Property[], options: QueueOptions): Queue {
  const { work } = options;
  const measured = measuredIn(options);
  const waiting = properties.toSorted((a, b) => work(b) - work(a));
  const begun = new Set<string>();
  const rates = new Map<string, number[]>();
  const rated = (property: Property, milliseconds: number): void => {
    const rate = milliseconds / work(property);
    rates.set(opsOf(property), [...(rates.get(opsOf(property)) ?? []), rate]);
  };
  for (const property of properties) {
    const milliseconds = measured(property);
    if (milliseconds !== undefined) rated(property, milliseconds);
  }
  const expected = (property: Property): number => {
    const like = rates.get(opsOf(property));
    const known = measured(property) ?? (like === undefined ? undefined : mean(like) * work(property));
    if (known !== undefined) return known;
    return begun.has(opsOf(property)) || work(property) <= UNASKED ? 0 : Number.POSITIVE_INFINITY;
  };
  return {
    left: () => waiting.length,
    take() {
      const longest = Math.max(...waiting.map(expected));
      const next = waiting.find((property) => expected(property) === longest);
      if (next === undefined) return undefined;
      waiting.splice(waiting.indexOf(next), 1);
      begun.add(opsOf(next));
      return next;
    },
    putBack: (property) => void waiting.unshift(property),
    ended: rated,
  };
}

const opsOf = ({ ops }: Property): string => ops.toSorted().join(' ');
const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

/** Where time is short: by what they caught before, and the bugs of real trainers that they catch, for the time that they take. */
export function mostTellingFirst(
  properties: readonly Property[],
  options: QueueOptions,
): readonly Property[] {
  const milliseconds = millisecondsOf(properties, options);
  const worth = (property: Property): number =>
    ((options.costs?.caught(property.id) ?? 0) * CAUGHT + property.catches.length + 1) *
    (property.level === 'must' ? MUST : 1);
  return properties.toSorted((a, b) => worth(b) / milliseconds(b) - worth(a) / milliseconds(a));
}

/** A run in which it found something, against a bug that some trainer had. */
const CAUGHT = 10;
/** A rule that cannot be broken on purpose, against one that can. */
const MUST = 2;

/** By earlier runs; undefined where none has judged it. */
function measuredIn({ costs, cases }: QueueOptions): (property: Property) => number | undefined {
  return (property) => {
    const each = costs?.millisecondsOf(property.id);
    return each === undefined ? undefined : each * Math.min(cases, property.mostCases ?? cases);
  };
}

/** Measured where it was, else in proportion to its work as that of those that were measured. */
function millisecondsOf(
  properties: readonly Property[],
  options: QueueOptions,
): (property: Property) => number {
  const { work } = options;
  const measured = measuredIn(options);
  const rates = properties
    .flatMap((property) => {
      const known = measured(property);
      return known === undefined ? [] : [known / work(property)];
    })
    .sort((a, b) => a - b);
  const rate = rates[Math.floor(rates.length / 2)] ?? 1;
  return (property) => Math.max(measured(property) ?? work(property) * rate, Number.MIN_VALUE);
}
