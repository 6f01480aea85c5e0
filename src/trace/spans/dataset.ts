// Rows that are examples of the data set that was given: one of them, one cut at either end, or several packed into
// one row. Examples are kept in the order of their ids, so that a row's is found by halving, however many there are.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Entry } from '../../view/read.ts';
import type { RowIds, Spans } from '../ledger.ts';
import { type Example, examplesOf, type Maker, marksInTexts } from './example.ts';
import { finderOf } from './finder.ts';
import { BACKWARD, beginningWith, FORWARD, ordered, sizeOf, wholeAt } from './sorted.ts';
import {
  type Annotation,
  annotatedSpans,
  blankOf,
  type Expected,
  isPadding,
  lay,
  put,
  runOf,
  type Walk,
  walkOf,
} from './walk.ts';

export interface ExampleIndex {
  readonly tokenizer: Tokenizer;
  readonly stops: ReadonlySet<number>;
  /** Examples that the row may be of, or hold. */
  examplesFor(row: RowIds): Examples;
}

export interface Examples {
  /** By the ids of their cores. */
  readonly forward: readonly Example[];
  /** By the same from behind. */
  readonly backward: readonly Example[];
}

export function exampleIndexOf(dataset: readonly Entry[], facts: Omit<Maker, 'textMarks'>): ExampleIndex {
  const { tokenizer, marks } = facts;
  const maker: Maker = { ...facts, textMarks: marksInTexts(dataset.slice(0, FEW), facts) };
  const stops = new Set(marks?.stops);
  if (tokenizer.eosTokenId !== undefined) stops.add(tokenizer.eosTokenId);
  const made = new Map<number, readonly Example[]>();
  const madeOf = (index: number): readonly Example[] => {
    const entry = dataset[index];
    const examples = made.get(index) ?? (entry === undefined ? [] : examplesOf(entry, maker));
    made.set(index, examples);
    return examples;
  };
  // Rows of ids are examples as they are.
  const plain = dataset.flatMap(({ value }, index) => (isIds(value) ? [index] : []));
  if (dataset.length <= FEW || plain.length === dataset.length) {
    let all: Examples | undefined;
    return {
      tokenizer,
      stops,
      examplesFor: () => {
        all ??= sorted(dataset.flatMap((_, index) => madeOf(index)));
        return all;
      },
    };
  }
  const finder = finderOf(dataset);
  return {
    tokenizer,
    stops,
    examplesFor: ({ ids, real }) => {
      const text = tokenizer.decode(ids.filter((_, at) => real[at]));
      return sorted([...new Set([...plain, ...finder.candidates(text)])].flatMap(madeOf));
    },
  };
}

/** undefined: no example accounts for the row, or for half of it at least. */
export function datasetSpans(row: RowIds, index: ExampleIndex): Spans | undefined {
  const walk = walkOf(row);
  const examples = index.examplesFor(row);
  const annotation = blankOf(row);
  const { bosTokenId, padTokenId } = index.tokenizer;
  let first: Placed | undefined;
  let at = 0;
  let known = 0;
  while (at < walk.count) {
    const begun = at;
    at += runOf(walk, at, bosTokenId);
    if (first === undefined && placeAt(walk, at, index, examples) === undefined) {
      const padded = runOf(walk, at, padTokenId);
      put(annotation, walk, at, at + padded, 'padding', false);
      at += padded + runOf(walk, at + padded, bosTokenId);
    }
    if (at >= walk.count) break;
    const placed =
      placeAt(walk, at, index, examples) ?? (first === undefined ? cutLeft(walk, at, examples) : undefined);
    if (placed === undefined) {
      at = begun;
      break;
    }
    first ??= placed;
    const end = placed.length + tailOf(walk, at + placed.length, placed);
    lay(annotation, walk, at, placed.example, placed.skipped, end);
    at = behind(annotation, walk, at + end, placed, index);
    known += at - begun;
  }
  if (first === undefined) return undefined;
  const rest = walk.count - at;
  if (rest > 0 && isPadding(walk, at, walk.count, index.tokenizer))
    put(annotation, walk, at, walk.count, 'padding', false);
  else if (rest > known) return undefined;
  const { number, form } = first.example;
  const shared = first.shared ? { shared: true as const } : {};
  return annotatedSpans(annotation, { kind: 'dataset', example: number, form, ...shared });
}

// --- helpers ---

/** Examples made without looking for those of the row: it takes a second. */
const FEW = 256;

const isIds = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'input_ids' in value;

const sorted = (examples: readonly Example[]): Examples => ({
  forward: [...examples].sort((left, right) => ordered(left, right, FORWARD)),
  backward: [...examples].sort((left, right) => ordered(left, right, BACKWARD)),
});

/** An example's ids [skipped, skipped + length) in the walk. */
interface Placed {
  readonly example: Example;
  readonly skipped: number;
  readonly length: number;
  /** Several examples have these ids. */
  readonly shared: boolean;
}

/** The example that begins at a token of the walk, all of it, or cut by the row's end. */
function placeAt(walk: Walk, start: number, index: ExampleIndex, { forward }: Examples): Placed | undefined {
  // A stop token that shares its id with padding may stand behind what is known to be real.
  const query = (at: number): number | undefined => walk.ids[start + at];
  const left = walk.count - start;
  const whole = wholeAt(forward, query, walk.masked ? left + 1 : walk.ids.length - start);
  if (whole !== undefined && sizeOf(whole) >= left) return merged(forward, whole, sizeOf(whole));
  const cut = beginningWith(forward, query, left, FORWARD);
  const ends = whole !== undefined && explainsRest(walk, start + sizeOf(whole), whole, index);
  if (cut.length > 0 && !ends)
    return { ...mergedOf(cut, left), skipped: cut[0]?.core.from ?? 0, length: left };
  return whole === undefined ? undefined : merged(forward, whole, sizeOf(whole));
}

/** Behind the core stand only the example's own end, stop tokens and padding. */
function explainsRest(
  walk: Walk,
  at: number,
  { ids, core }: Example,
  { stops, tokenizer }: ExampleIndex,
): boolean {
  let end = at;
  while (end < walk.count && ids[core.to + end - at] === walk.ids[end]) end++;
  while (end < walk.count && stops.has(walk.ids[end] ?? -1)) end++;
  return end >= walk.count || isPadding(walk, end, walk.count, tokenizer);
}

/** Of a row cut at its left the end of an example comes first: so many ids must agree at least. */
const LEAST_OF_CUT = 4;

/** Ids at a row's end that its trainer may have written otherwise than the example has them: a stop token, a last space. */
const OF_ITS_OWN = 2;

function cutLeft(walk: Walk, start: number, { forward, backward }: Examples): Placed | undefined {
  // A row that begins as an example does, nearly to its end, is not cut: its end is another one by chance.
  const begun = Math.max(LEAST_OF_CUT, walk.count - start - OF_ITS_OWN);
  if (beginningWith(forward, (at) => walk.ids[start + at], begun, FORWARD).length > 0) return undefined;
  for (let end = Math.min(walk.ids.length, walk.count + 1); end - start >= LEAST_OF_CUT; end--) {
    const length = end - start;
    const query = (at: number): number | undefined => (at < length ? walk.ids[end - 1 - at] : undefined);
    const found = beginningWith(backward, query, length, BACKWARD);
    const [example] = found;
    if (example === undefined) continue;
    // What they share is their end.
    return { ...mergedOf(found, length, true), skipped: example.core.to - length, length };
  }
  return undefined;
}

function merged(examples: readonly Example[], example: Example, length: number): Placed {
  const query = (at: number): number | undefined => FORWARD(example, at);
  const alike = beginningWith(examples, query, length, FORWARD).filter((each) => sizeOf(each) === length);
  return { ...mergedOf(alike.length > 0 ? alike : [example], length), skipped: example.core.from, length };
}

/** One of several examples that the ids may be of: where these expect something else, nothing is expected. */
function mergedOf(
  alike: readonly Example[],
  length: number,
  fromEnd = false,
): Pick<Placed, 'example' | 'shared'> {
  const [first, ...others] = alike;
  if (first === undefined) throw new Error('merged no example');
  if (others.length === 0) return { example: first, shared: false };
  const startOf = ({ core }: Example): number => (fromEnd ? core.to - length : core.from);
  const expected = [...first.expected];
  for (let at = 0; at < length; at++) {
    const own: Expected = first.expected[startOf(first) + at];
    if (others.some((other) => other.expected[startOf(other) + at] !== own))
      expected[startOf(first) + at] = undefined;
  }
  return { example: { ...first, expected }, shared: others.some(({ number }) => number !== first.number) };
}

/** So many ids behind an example's core are its own end. */
function tailOf(walk: Walk, from: number, { example, skipped, length }: Placed): number {
  const { core, ids } = example;
  let at = from;
  if (skipped + length < core.to) return 0;
  while (at < walk.count && core.to + at - from < ids.length && ids[core.to + at - from] === walk.ids[at])
    at++;
  return at - from;
}

/** A stop token that the trainer put behind the example, or its own among the padding: either way it may be trained. */
function behind(
  annotation: Annotation,
  walk: Walk,
  at: number,
  { example, skipped, length }: Placed,
  index: ExampleIndex,
): number {
  const { stops, tokenizer } = index;
  const next = walk.ids[at];
  if (skipped + length < example.core.to || next === undefined || !stops.has(next)) return at;
  const before = walk.ids[at - 1];
  // The example's own, if it is not padding: of two alike it cannot be told.
  if (before === next && next === tokenizer.padTokenId && example.core.to < example.ids.length)
    put(annotation, walk, at - 1, at, 'stop', undefined);
  // In a packed row it may be the BOS of the next example.
  if (next === tokenizer.bosTokenId && at < walk.count) return at;
  if (at >= walk.count && walk.masked && example.ids[example.core.to] !== next) return at;
  const ended = example.completions.at(-1)?.stop !== undefined;
  put(annotation, walk, at, at + 1, ended ? 'after stop' : 'stop', undefined);
  return at + 1;
}
