// The verdict on a gap: which causes beat plain noise on rows that they were not fitted to, one after the other, and
// whether what is left has the size of rounding.
import type { Cause, Fit } from './cause.ts';
import { thinned } from './causes/curves.ts';
import { CAUSES } from './causes/index.ts';
import { leftAt, type Score, scoreOf } from './score.ts';
import { gapAt, type Tokens } from './tokens.ts';

export interface Ranked {
  readonly id: string;
  readonly fit: Fit;
  readonly score: Score;
}

export interface Named extends Ranked {
  /** Of the whole gap: of what the causes before it leave, its share is `score.share`. */
  readonly share: number;
  /** The next best of the same round. */
  readonly second?: Ranked;
}

export interface Analysis {
  readonly verdict: 'noise' | 'cause' | 'unexplained';
  /** The largest share first, as far as one is clear. */
  readonly named: readonly Named[];
  /** What competed each time, the best first: the first is named, except where the last round names none. */
  readonly rounds: readonly (readonly Ranked[])[];
  /** Root mean square of what no cause explains. */
  readonly leftRms: number;
}

/**
 * Root mean square gaps between a trainer and vLLM on the same weights, Qwen2.5-0.5B, in nats: 0.0022 in float32, 0.03 to
 * 0.04 in bf16 (ServiceNow/Fast-LLM, pull request 525). Larger models and mixtures of experts lie above: three times is allowed for.
 */
export const FLOAT32_RMS = 0.0022;
export const BF16_RMS = 0.04;
export const MOST_NOISE_RMS = 0.12;
/** Fewer rows, or tokens, are no two halves. */
export const LEAST_ROWS = 20;
export const LEAST_TOKENS = 400;

/** Standard errors: with a dozen causes, one in ten thousand runs of noise reaches it. */
export const LEAST_CERTAINTY = 4.5;
/** Of what the causes before it leave: a cause of less is not what makes two sides disagree. */
export const LEAST_SHARE = 0.12;
/**
 * One that is on few tokens, and sure of them, has a smaller share of a gap that is on all. What a partial one leaves looks like a small
 * other partial one, so these need the usual share.
 */
const SURE = 10;
const LEAST_SURE_SHARE = 0.05;

/** @param rounding what the model is known to move by in its dtype, where that is measured: more than usual is noise, too. */
export function analyse(tokens: Tokens, causes: readonly Cause[] = CAUSES, rounding = 0): Analysis {
  const named: Named[] = [];
  const rounds: (readonly Ranked[])[] = [];
  let current = tokens;
  let left = 1;
  for (let round = 0; round < MOST_CAUSES && rmsOf(current) > FLOAT32_RMS; round++) {
    const open = causes.filter(({ id }) => !named.some((each) => each.id === id));
    const ranked = rank(current, open);
    rounds.push(ranked);
    // Of a gap as small as that of rounding, where it is wide proves nothing: rounding is wider at some places than at others.
    const isSmall = rmsOf(current) <= Math.max(BF16_RMS, rounding);
    const best = ranked.find((each) => isClear(each) && !(isSmall && each.fit.left === undefined));
    if (best === undefined) break;
    const second = ranked.find((each) => each !== best);
    named.push({ ...best, share: left * best.score.share, ...(second === undefined ? {} : { second }) });
    left *= 1 - best.score.share;
    current = without(current, best.fit);
  }
  const leftRms = rmsOf(current);
  const verdict =
    named.length > 0 ? 'cause' : leftRms <= Math.max(MOST_NOISE_RMS, rounding) ? 'noise' : 'unexplained';
  return { verdict, named: named.sort((a, b) => b.share - a.share), rounds, leftRms };
}

/** By how much better each predicts the held-out half than noise does; those that do not are left out. */
export function rank(tokens: Tokens, causes: readonly Cause[] = CAUSES): readonly Ranked[] {
  const halves = halvesOf(tokens);
  return causes
    .flatMap(({ id, fitTo }) => {
      const found = fitTo(tokens, { places: halves.fitted });
      return found === undefined ? [] : [{ id, fit: found, score: scoreOf(tokens, found, halves) }];
    })
    .filter(({ score }) => score.gain > 0)
    .sort((a, b) => b.score.gain - a.score.gain);
}

/** Beyond chance, and large enough to name. */
export const isClear = ({ fit, score: { certainty, share } }: Ranked): boolean =>
  certainty > LEAST_CERTAINTY &&
  share > (certainty > SURE && fit.isPartial !== true ? LEAST_SURE_SHARE : LEAST_SHARE);

// --- helpers ---

/** More at once nobody has planted, and nothing could tell them apart. */
const MOST_CAUSES = 3;
const MOST_FITTED = 20_000;
const MOST_HELD_OUT = 100_000;

/** Whole rows on either side, scattered: neighbours in a file share a prompt. */
function halvesOf({ count, row }: Tokens): { readonly fitted: Uint32Array; readonly heldOut: Uint32Array } {
  const all = Uint32Array.from({ length: count }, (_, at) => at);
  const isFitted = (at: number): boolean => Math.imul(row[at] ?? 0, SCATTER) >>> 31 === 0;
  return {
    fitted: thinned(all.filter(isFitted), MOST_FITTED),
    heldOut: thinned(
      all.filter((at) => !isFitted(at)),
      MOST_HELD_OUT,
    ),
  };
}
/** Knuth's multiplier: 2^32 over the golden ratio. */
const SCATTER = 2_654_435_761;

/** The same tokens as if the cause were not there. */
function without(tokens: Tokens, fit: Fit): Tokens {
  const sampling = Float64Array.from(tokens.sampling, (_, at) =>
    at < tokens.count ? (tokens.trainer[at] ?? 0) - leftAt(tokens, fit, at) / (fit.width?.(at) ?? 1) : 0,
  );
  return { ...tokens, sampling };
}

function rmsOf(tokens: Tokens): number {
  let squares = 0;
  for (let at = 0; at < tokens.count; at++) squares += gapAt(tokens, at) ** 2;
  return Math.sqrt(squares / tokens.count);
}
