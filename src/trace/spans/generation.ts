// Rows that a script sampled itself: the ids of a recorded sampler, prompt and completion, stand in the row, whatever the
// attention mask hides of them. Known without a tokenizer, and exactly; but for stop and special tokens, which get lost.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Ids } from '../../vocabulary.ts';
import type { Generation, RowIds, Spans } from '../ledger.ts';
import { type Hashed, hashed, hashOf } from './hash.ts';
import { type Found, laid, type Segment } from './laid.ts';
import { isPadding, runOf, type Walk, walkOf } from './walk.ts';

export interface GenerationIndex {
  readonly generations: readonly Generation[];
  /** By the hash of the prompt; all of one entry have the same prompt but for collisions. */
  readonly byPrompt: ReadonlyMap<number, readonly number[]>;
  /** Lengths of prompts, ascending. */
  readonly lengths: readonly number[];
  /** By the hash of the completion's first ids, for prompts of which only the end is in the row. */
  readonly byOpening: ReadonlyMap<number, readonly number[]>;
}

export function generationIndexOf(generations: readonly Generation[]): GenerationIndex {
  const byPrompt = new Map<number, number[]>();
  const byOpening = new Map<number, number[]>();
  const lengths = new Set<number>();
  for (const [index, { promptIds, completionIds }] of generations.entries()) {
    if (promptIds.length === 0 || completionIds.length === 0) continue;
    lengths.add(promptIds.length);
    push(byPrompt, hashOf(promptIds), index);
    push(byOpening, hashOf(completionIds.slice(0, OPENING)), index);
  }
  return { generations, byPrompt, byOpening, lengths: [...lengths].sort((left, right) => left - right) };
}

/** undefined: no recorded completion stands in the row behind its prompt. */
export function generationSpans(
  row: RowIds,
  index: GenerationIndex,
  tokenizer: Tokenizer | undefined,
): Spans | undefined {
  if (index.lengths.length === 0) return undefined;
  // Where the padding is told by its id, a BOS of the same id in front of the prompt looks like padding.
  const ways = row.attention === undefined && row.real[0] === false ? [0, 1] : [0];
  const hides = row.real.slice(row.real.indexOf(true), row.real.lastIndexOf(true)).includes(false);
  const tries = [
    ...ways.map((before) => ({ before, whole: false, bare: false })),
    ...(hides ? [{ before: 0, whole: true, bare: false }] : []),
    { before: 0, whole: hides, bare: true },
  ];
  for (const { before, whole, bare } of tries) {
    const walk = walkOf(row, before, whole);
    if (walk.count === 0) return undefined;
    const reading: Reading = { walk, hash: hashed(walk.ids), index, tokenizer, bare, known: new Map() };
    const padded = runOf(walk, 0, tokenizer?.padTokenId);
    const segments = segmentsFrom(reading, 0) ?? (padded > 0 ? segmentsFrom(reading, padded) : undefined);
    const found = segments ?? tailOf(reading);
    if (found !== undefined) return laid(row, { walk, generations: index.generations, tokenizer }, found);
  }
  return undefined;
}

// --- helpers ---

/** Ids of a completion that it is looked up by. */
const OPENING = 3;
/** Ids of prompt and completion together that a prompt cut at its beginning must have in the row: fewer are chance. */
const LEAST_OF_CUT = 4;

interface Reading {
  readonly walk: Walk;
  readonly hash: Hashed;
  readonly index: GenerationIndex;
  readonly tokenizer: Tokenizer | undefined;
  /** Completions are looked for without their stop and special tokens. */
  readonly bare: boolean;
  /** Segments looked for already, by where they begin. */
  readonly known: Map<number, Segment | undefined>;
}

function push(map: Map<number, number[]>, key: number, value: number): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

/** One segment, or several that were packed into one row; undefined where none begins at `start`. */
function segmentsFrom(reading: Reading, start: number): readonly Segment[] | undefined {
  const segments: Segment[] = [];
  let at = start;
  while (at < reading.walk.count) {
    const segment = segmentAt(reading, at);
    if (segment === undefined) break;
    segments.push(segment);
    at = segment.chain.at(-1)?.to ?? reading.walk.count;
  }
  return segments.length === 0 ? undefined : segments;
}

function segmentAt(reading: Reading, start: number): Segment | undefined {
  if (!reading.known.has(start)) reading.known.set(start, lookedUp(reading, start));
  return reading.known.get(start);
}

function lookedUp(reading: Reading, start: number): Segment | undefined {
  const { index } = reading;
  const prefixes: { readonly length: number; readonly generations: readonly number[] }[] = [];
  const found: Found[] = [];
  for (const length of index.lengths) {
    if (start + length >= reading.walk.ids.length) break;
    const same = (index.byPrompt.get(reading.hash.of(start, start + length)) ?? []).filter((each) =>
      equalAt(reading.walk.ids, start, index.generations[each]?.promptIds ?? []),
    );
    if (same.length === 0) continue;
    prefixes.push({ length, generations: same });
    for (const generation of same) found.push(...completionAt(reading, generation, start + length));
  }
  const chain = chainOf(reading, found);
  const [first] = chain;
  if (first === undefined) return undefined;
  const end = chain.at(-1)?.to;
  const doubtful = Math.max(...found.filter(({ to }) => to === end).map(({ from }) => from));
  return { start, chain, unsure: unsureFrom(reading, start, first, prefixes), doubtful };
}

/** The completion of a generation at `at`, or behind the padding of its prompt's right side. */
function completionAt(reading: Reading, generation: number, at: number): Found[] {
  const { walk, index, tokenizer } = reading;
  if (reading.bare) return bareAt(reading, generation, at);
  const ids = index.generations[generation]?.completionIds ?? [];
  const padding = runOf(walk, at, tokenizer?.padTokenId);
  for (const from of padding > 0 ? [at, at + padding] : [at]) {
    if (equalAt(walk.ids, from, ids)) return [{ generation, from, to: from + ids.length, whole: true }];
    const left = walk.count - from;
    if (left > 0 && left < ids.length && equalAt(walk.ids, from, ids.slice(0, left)))
      return [{ generation, from, to: walk.count, whole: false }];
  }
  return [];
}

/** The completion as decoding without special tokens leaves it: it must end the row, for less of it is less evidence. */
function bareAt({ walk, index, tokenizer }: Reading, generation: number, at: number): Found[] {
  const known = index.generations[generation];
  const all = known?.completionIds ?? [];
  const unstopped = known?.stopped === true ? all.slice(0, -1) : all;
  const plain = unstopped.filter((id) => tokenizer?.specialIds.has(id) !== true);
  for (const ids of [unstopped, plain]) {
    const to = at + ids.length;
    if (ids.length === 0 || ids.length === all.length || !equalAt(walk.ids, at, ids)) continue;
    if (to >= walk.count || isPadding(walk, to, walk.count, tokenizer))
      return [{ generation, from: at, to, whole: true, bare: true }];
  }
  return [];
}

/** What reaches furthest, and before it what its prompt goes over. */
function chainOf(reading: Reading, found: readonly Found[]): readonly Found[] {
  // Of duplicates the first recorded; of two that end alike the longer one.
  const order = [...found].sort((left, right) => right.to - left.to || left.from - right.from);
  const last = order.find((each) => isEnd(reading, each));
  if (last === undefined) return [];
  const chain = [last];
  for (const each of order) {
    const [first] = chain;
    if (first !== undefined && each.whole && each.to <= first.from && isEarlier(reading, each, first))
      chain.unshift(each);
  }
  return chain;
}

/** The turns of one conversation come from calls one after the other; rows of one call know nothing of each other. */
function isEarlier({ index }: Reading, each: Found, next: Found): boolean {
  const [one, other] = [index.generations[each.generation], index.generations[next.generation]];
  return one?.rank === other?.rank && (one?.call ?? 0) < (other?.call ?? 0);
}

/** A completion that was sampled to its limit is followed by nothing; otherwise the row only begins like it. */
function isEnd(reading: Reading, { generation, to, whole }: Found): boolean {
  const { walk, index, tokenizer } = reading;
  const known = index.generations[generation];
  if (!whole || known?.stopped === true || to >= walk.count) return true;
  // Some trainers put a stop token behind what has none; and the last token may have been drawn unseen.
  const put = known?.open === true || known?.eosTokenIds.includes(walk.ids[to] ?? -1) === true ? 1 : 0;
  return (
    to + put >= walk.count ||
    isPadding(walk, to, walk.count, tokenizer) ||
    segmentAt(reading, to) !== undefined
  );
}

/**
 * A call of the same step whose prompt the row begins with, and whose completion it does not have: an earlier turn
 * that was written anew, of which it is not known what was sampled.
 */
function unsureFrom(
  { index }: Reading,
  start: number,
  first: Found,
  prefixes: readonly { readonly length: number; readonly generations: readonly number[] }[],
): number | undefined {
  const own = index.generations[first.generation];
  const earlier = prefixes.find(
    ({ length, generations }) =>
      start + length < first.from &&
      generations.some((each) => {
        const other = index.generations[each];
        return (
          own !== undefined &&
          other !== undefined &&
          other.rank === own.rank &&
          other.step === own.step &&
          other.call < own.call
        );
      }),
  );
  return earlier === undefined ? undefined : start + earlier.length;
}

/** A row that begins within a prompt: the completion is found first, and what stands before it must be the prompt's end. */
function tailOf(reading: Reading): readonly Segment[] | undefined {
  const { walk, hash, index } = reading;
  for (let from = 1; from < walk.count; from++) {
    for (let length = Math.min(OPENING, walk.count - from); length > 0; length--) {
      for (const generation of index.byOpening.get(hash.of(from, from + length)) ?? []) {
        const prompt = index.generations[generation]?.promptIds ?? [];
        if (prompt.length <= from || !endsWith(prompt, walk.ids, from)) continue;
        const [found] = completionAt(reading, generation, from);
        if (found === undefined || found.from !== from || found.to < LEAST_OF_CUT || !isEnd(reading, found))
          continue;
        return [{ start: 0, chain: [found], unsure: undefined, doubtful: from }];
      }
    }
  }
  return undefined;
}

function equalAt(ids: Ids, at: number, other: Ids): boolean {
  if (at + other.length > ids.length) return false;
  for (let index = 0; index < other.length; index++) if (ids[at + index] !== other[index]) return false;
  return true;
}

/** The first `length` ids of a row are the last ones of a prompt. */
function endsWith(prompt: Ids, ids: Ids, length: number): boolean {
  for (let back = 1; back <= length; back++)
    if (prompt[prompt.length - back] !== ids[length - back]) return false;
  return true;
}
