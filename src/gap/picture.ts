// A gap as it is drawn: a bounded number of tokens with both sides, the gap along completions, and the tokens and ids that
// it is largest on.
import type { Rollout } from './read/read.ts';
import { gapAt, type Tokens } from './tokens.ts';

export interface Picture {
  /** Both sides of tokens, drawn evenly: [engine, trainer]. */
  readonly points: readonly (readonly [number, number])[];
  /** By the place in the completion, and by the tokens that follow. */
  readonly places: readonly Bin[];
  readonly ends: readonly Bin[];
  /** The largest gap first. */
  readonly largest: readonly Largest[];
  /** The largest share of the gap first. */
  readonly ids: readonly IdShare[];
}

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly tokens: number;
  readonly meanAbs: number;
}

export interface Largest {
  /** The row as its file has it. */
  readonly where: string;
  readonly position: number;
  readonly id: number;
  /** The ids before it, of prompt and completion. */
  readonly before: readonly number[];
  readonly sampling: number;
  readonly trainer: number;
}

export interface IdShare {
  readonly id: number;
  readonly tokens: number;
  readonly mean: number;
  /** Of the sum of |gap|. */
  readonly share: number;
  /** Of tokens. */
  readonly frequency: number;
}

export function pictureOf(tokens: Tokens, rollouts: readonly Rollout[]): Picture {
  return {
    points: pointsOf(tokens),
    places: binsOf(tokens, tokens.position),
    ends: binsOf(tokens, tokens.after),
    largest: largestOf(tokens).map((at) => largestAt(tokens, rollouts, at)),
    ids: idsOf(tokens),
  };
}

// --- helpers ---

/** As many as a square of 300 pixels tells apart; some 20 kB of a page. */
const MOST_POINTS = 2_000;
const MOST_LARGEST = 25;
/** One row that is wrong altogether leaves room for others. */
const MOST_OF_ROW = 3;
const MOST_IDS = 15;
const SHOWN_BEFORE = 4;

function pointsOf({ count, sampling, trainer }: Tokens): Picture['points'] {
  const step = Math.max(1, Math.ceil(count / MOST_POINTS));
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => [
    sampling[at * step] ?? 0,
    trainer[at * step] ?? 0,
  ]);
}

/** 0, 1, 2, 3, 4 to 5, 6 to 7, 8 to 11...: two for each doubling. */
function binsOf(tokens: Tokens, places: Uint32Array): readonly Bin[] {
  const sums = new Map<number, { tokens: number; abs: number }>();
  for (let at = 0; at < tokens.count; at++) {
    const from = startOf(places[at] ?? 0);
    const sum = sums.get(from) ?? { tokens: 0, abs: 0 };
    sum.tokens++;
    sum.abs += Math.abs(gapAt(tokens, at));
    sums.set(from, sum);
  }
  return [...sums]
    .sort(([a], [b]) => a - b)
    .map(([from, { tokens: count, abs }]) => ({
      from,
      to: endOf(from),
      tokens: count,
      meanAbs: abs / count,
    }));
}

function startOf(place: number): number {
  if (place < 4) return place;
  const octave = 2 ** Math.floor(Math.log2(place));
  return place >= 1.5 * octave ? 1.5 * octave : octave;
}

function endOf(from: number): number {
  if (from < 4) return from;
  const octave = 2 ** Math.floor(Math.log2(from));
  return (from === octave ? 1.5 : 2) * octave - 1;
}

function largestOf(tokens: Tokens): readonly number[] {
  const found: number[] = [];
  const size = (at: number): number => Math.abs(gapAt(tokens, at));
  let least = 0;
  for (let at = 0; at < tokens.count; at++) {
    if (size(at) <= least) continue;
    found.push(at);
    if (found.length < KEPT) continue;
    found.sort((a, b) => size(b) - size(a));
    keepFew(found, tokens);
    // With fewer than asked for, the next largest may still be among what comes.
    least = found.length < MOST_LARGEST ? 0 : size(found.at(-1) ?? 0);
  }
  found.sort((a, b) => size(b) - size(a));
  keepFew(found, tokens);
  return found;
}
/** Sorted when as many are there. */
const KEPT = 4_096;

function keepFew(sorted: number[], { row }: Tokens): void {
  const ofRow = new Map<number, number>();
  const kept = sorted.filter((at) => {
    const many = ofRow.get(row[at] ?? 0) ?? 0;
    ofRow.set(row[at] ?? 0, many + 1);
    return many < MOST_OF_ROW;
  });
  sorted.splice(0, sorted.length, ...kept.slice(0, MOST_LARGEST));
}

function largestAt(tokens: Tokens, rollouts: readonly Rollout[], at: number): Largest {
  const row = tokens.row[at] ?? 0;
  const position = tokens.position[at] ?? 0;
  const { prompt = [], ids = [], where } = rollouts[row] ?? {};
  const before = [
    ...prompt.slice(-SHOWN_BEFORE),
    ...ids.slice(Math.max(0, position - SHOWN_BEFORE), position),
  ];
  return {
    where: where ?? `row ${row + 1}`,
    position,
    id: tokens.id[at] ?? 0,
    before: before.slice(-SHOWN_BEFORE),
    sampling: tokens.sampling[at] ?? 0,
    trainer: tokens.trainer[at] ?? 0,
  };
}

function idsOf(tokens: Tokens): readonly IdShare[] {
  const sums = new Map<number, { tokens: number; sum: number; abs: number }>();
  let whole = 0;
  for (let at = 0; at < tokens.count; at++) {
    const id = tokens.id[at] ?? 0;
    const known = sums.get(id) ?? { tokens: 0, sum: 0, abs: 0 };
    const gap = gapAt(tokens, at);
    known.tokens++;
    known.sum += gap;
    known.abs += Math.abs(gap);
    whole += Math.abs(gap);
    sums.set(id, known);
  }
  if (whole === 0) return [];
  return [...sums]
    .sort(([, a], [, b]) => b.abs - a.abs)
    .slice(0, MOST_IDS)
    .map(([id, { tokens: count, sum, abs }]) => ({
      id,
      tokens: count,
      mean: sum / count,
      share: abs / whole,
      frequency: count / tokens.count,
    }));
}
