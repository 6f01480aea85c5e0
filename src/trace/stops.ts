// Samplers that go on behind the stop: the script itself cuts what they return, and nobody told the tracer where. The rows that
// it trains show it: each ends, or is only padding, behind the first of a few ids, and no other row has one of them.
import type { Ids } from '../vocabulary.ts';
import type { Generation, RowIds } from './ledger.ts';

/** The same generations, those of a sampler whose stops are unknown cut at the ids that its rows are cut at. */
export function cutAtStops(
  generations: readonly Generation[],
  rows: readonly Pick<RowIds, 'rank' | 'ids'>[],
): readonly Generation[] {
  const open = generations.filter(({ eosTokenIds, stopped }) => eosTokenIds.length === 0 && !stopped);
  if (open.length === 0) return generations;
  const held = open.map((generation) => heldOf(generation, rows)).filter((each) => each !== undefined);
  const stops = stopsOf(held) ?? stopsOfOthers(generations, held);
  if (stops === undefined) return generations;
  return generations.map((generation) => (open.includes(generation) ? cut(generation, stops) : generation));
}

// --- helpers ---

/** So many ids end turns, in the scripts that have several. */
const MOST_STOPS = 4;

/** What a row has of a completion: `most` tokens, and of these only the first `least` for certain: the rest may be its padding. */
interface Held {
  readonly completion: Ids;
  readonly least: number;
  readonly most: number;
  /** It was cut there: padding is behind it. Else it is all there, or the row is at its end. */
  readonly cut: boolean;
}

function heldOf(
  { rank, promptIds, completionIds }: Generation,
  rows: readonly Pick<RowIds, 'rank' | 'ids'>[],
): Held | undefined {
  let best: Held | undefined;
  for (const row of rows) {
    if (row.rank !== rank) continue;
    const held = heldIn(row.ids, promptIds, completionIds);
    if (held !== undefined && held.most > (best?.most ?? 0)) best = held;
  }
  return best;
}

function heldIn(ids: Ids, prompt: Ids, completion: Ids): Held | undefined {
  const at = startOf(ids, prompt);
  if (at === undefined) return undefined;
  const from = at + prompt.length;
  let most = 0;
  while (most < completion.length && completion[most] === ids[from + most]) most++;
  const left = ids.length - from - most;
  if (most === completion.length || left === 0) return { completion, most, least: most, cut: false };
  const padding = paddingFrom(ids);
  // Anything but padding is another text; padding may be one token.
  if (from + most < padding && left > 1) return undefined;
  return { completion, most, least: Math.min(most, Math.max(0, padding - from)), cut: true };
}

/** Where the prompt begins: at once, or behind padding, which is one id. */
function startOf(ids: Ids, prompt: Ids): number | undefined {
  for (let at = 0; at + prompt.length < ids.length; at++) {
    if (prompt.every((id, i) => ids[at + i] === id)) return at;
    if (ids[at] !== ids[0]) return undefined;
  }
  return undefined;
}

/** Where a run of one id begins that reaches to the end; the end where that is a single token. */
function paddingFrom(ids: Ids): number {
  let start = ids.length - 1;
  while (start > 0 && ids[start - 1] === ids[start]) start--;
  return start === ids.length - 1 ? ids.length : start;
}

/** The ids, where every row is explained by them; undefined: rows were cut otherwise, or not at all. */
function stopsOf(held: readonly Held[]): readonly number[] | undefined {
  const cutOff = held.filter((each) => each.cut);
  if (cutOff.length < LEAST_CUT) return undefined;
  // With the stop token in the row; and without it, which is a finding once it is known to be one.
  for (const kept of [1, 0]) {
    const found = candidatesOf(cutOff, kept).find((stops) =>
      held.every((each) => isExplained(each, stops, kept)),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What stopped other calls of the script's own loop, where it explains these rows as well: one that stopped alone tells too little. */
function stopsOfOthers(
  generations: readonly Generation[],
  held: readonly Held[],
): readonly number[] | undefined {
  const loops = generations.filter(({ source }) => source === 'loop');
  const stops = [...new Set(loops.flatMap(({ eosTokenIds }) => eosTokenIds))];
  const explains = stops.length > 0 && held.every((each) => isExplained(each, stops, 1));
  return explains ? stops : undefined;
}

/** Two rows that were cut at one id are no accident. */
const LEAST_CUT = 2;

/** Where padding has the id of the stop, no row tells by itself where it was cut: then each id that one may have been cut at. */
function candidatesOf(cutOff: readonly Held[], kept: number): readonly (readonly number[])[] {
  const between = ({ completion, least, most }: Held): readonly number[] =>
    completion.slice(Math.max(0, least - kept), most - kept + 1);
  const known = cutOff.filter(({ least, most }) => least === most);
  const sure = [...new Set(known.flatMap(between))];
  // Rows that were cut at a length end with an id each.
  if (sure.length > 0)
    return sure.length <= MOST_STOPS && known.length >= LEAST_CUT * sure.length ? [sure] : [];
  return [...new Set(cutOff[0] === undefined ? [] : between(cutOff[0]))].map((id) => [id]);
}

function isExplained(
  { completion, least, most, cut }: Held,
  stops: readonly number[],
  kept: number,
): boolean {
  const first = completion.findIndex((id) => stops.includes(id));
  const end = first < 0 ? completion.length : first + kept;
  return end >= least && (!cut || end <= most);
}

function cut(generation: Generation, stops: readonly number[]): Generation {
  const { open: _open, ...rest } = generation;
  const at = generation.completionIds.findIndex((id) => stops.includes(id));
  if (at < 0) return { ...generation, eosTokenIds: stops };
  return {
    ...rest,
    completionIds: generation.completionIds.slice(0, at + 1),
    stopped: true,
    eosTokenIds: stops,
  };
}
