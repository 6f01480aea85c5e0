// A row of which it is known which sampled sequences stand where: its roles, and what should be trained.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Generation, RowIds, Spans } from '../ledger.ts';
import { type Annotation, annotatedSpans, blankOf, complete, put, runOf, type Walk } from './walk.ts';

/** A completion in the walk: tokens [from, to). */
export interface Found {
  readonly generation: number;
  readonly from: number;
  readonly to: number;
  /** All of it is there. */
  readonly whole: boolean;
  /** But for its stop token, and its special ones. */
  readonly bare?: boolean;
}

/** A prompt at `start`, and the completions behind it: several where the calls of a conversation follow each other. */
export interface Segment {
  readonly start: number;
  readonly chain: readonly Found[];
  /** Behind here, up to the first completion, it is not known what was sampled. */
  readonly unsure: number | undefined;
  /** Up to here the last completion may be the prompt of another one with the same end. */
  readonly doubtful: number;
}

export interface Told {
  readonly walk: Walk;
  readonly generations: readonly Generation[];
  readonly tokenizer: Tokenizer | undefined;
}

export function laid(
  row: RowIds,
  { walk, generations: known, tokenizer }: Told,
  segments: readonly Segment[],
): Spans {
  const annotation = blankOf(row);
  put(annotation, walk, 0, segments[0]?.start ?? 0, 'padding', false);
  let end = 0;
  for (const { start, chain, unsure, doubtful } of segments) {
    let at = start;
    for (const [turn, found] of chain.entries()) {
      if (turn === 0) {
        put(annotation, walk, at, unsure ?? found.from, 'prompt', false);
        if (unsure !== undefined) put(annotation, walk, unsure, found.from, 'prompt', undefined);
      } else put(annotation, walk, at, found.from, 'tool', false);
      layCompletion(annotation, walk, found, known[found.generation], turn === chain.length - 1);
      at = found.to;
    }
    put(annotation, walk, chain.at(-1)?.from ?? at, doubtful, 'completion', undefined);
    // Drawn and given tokens that cannot be told apart, on either side of where the prompt ends.
    for (const { from, to, generation } of chain) {
      const unsure = known[generation]?.unsure;
      if (unsure === undefined) continue;
      put(annotation, walk, Math.max(start, from - unsure.before), from, 'prompt', undefined);
      put(annotation, walk, from, Math.min(from + unsure.behind, to - 1), 'completion', undefined);
    }
    end = at;
  }
  layRest(annotation, walk, end, known[segments.at(-1)?.chain.at(-1)?.generation ?? -1], tokenizer);
  const generations = segments.flatMap(({ chain }) => chain.map(({ generation }) => generation));
  return annotatedSpans(annotation, { kind: 'generation', generations });
}

// --- helpers ---

function layCompletion(
  annotation: Annotation,
  walk: Walk,
  { from, to, whole, bare = false }: Found,
  generation: Generation | undefined,
  last: boolean,
): void {
  const stopped = whole && generation?.stopped === true;
  const stop = stopped && !bare ? to - 1 : undefined;
  // To leave a completion out that never came to its end is legal.
  put(annotation, walk, from, to, 'completion', stopped || !last ? true : undefined);
  if (stop !== undefined) put(annotation, walk, stop, to, 'stop', true);
  complete(annotation, walk, Math.min(from + (generation?.unsure?.behind ?? 0), stop ?? to), to, stop);
}

/** What stands behind the last completion. */
function layRest(
  annotation: Annotation,
  walk: Walk,
  end: number,
  generation: Generation | undefined,
  tokenizer: Tokenizer | undefined,
): void {
  if (end >= walk.count) return;
  // Pads that the model can see, behind what never came to a stop: they may have been sampled.
  const sampled =
    generation?.stopped === false && end + runOf(walk, end, tokenizer?.padTokenId) >= walk.count;
  put(annotation, walk, end, walk.count, 'after stop', sampled ? undefined : false);
  const appended = generation?.stopped === false && generation.eosTokenIds.includes(walk.ids[end] ?? -1);
  if (appended) put(annotation, walk, end, end + 1, 'stop', undefined);
  else if (generation?.open === true) put(annotation, walk, end, end + 1, 'completion', undefined);
}
