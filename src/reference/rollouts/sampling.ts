// The distribution that a next token is drawn from: temperature, top-k, top-p, and stop tokens that are held back. One
// row at a time; drawing itself is not done here.
import type { Ids } from '../../vocabulary.ts';
import { logSoftmax } from '../scores/logprobs.ts';

export interface SamplingSettings {
  readonly temperature: number;
  /** The k most likely tokens are kept; 0: all. */
  readonly topK: number;
  /** The fewest tokens that together have this probability are kept; 1: all. */
  readonly topP: number;
  /** Ids that cannot be drawn at all. */
  readonly never: Ids;
}

/** What samplers differ in where several settings are on. */
export interface SamplingVariant {
  /** Temperature before the truncations (transformers, vLLM, SGLang) or behind them (llama.cpp). */
  readonly temperature: 'first' | 'last';
  /** top-p looks at probabilities after top-k (transformers, vLLM), or before it (FlashInfer's joint sampling). */
  readonly topP: 'after top-k' | 'before top-k';
}

export const SAMPLING_VARIANTS: readonly SamplingVariant[] = (['first', 'last'] as const).flatMap(
  (temperature) => (['after top-k', 'before top-k'] as const).map((topP) => ({ temperature, topP })),
);

/**
 * log p of each token (V,), nats, -Infinity for those that cannot be drawn. The nucleus (Holtzman et al. 2020, section
 * 3.1) includes the token with which the mass reaches p, so one token at least is kept.
 */
export function samplingLogprobs(
  logits: readonly number[],
  settings: SamplingSettings,
  variant: SamplingVariant,
): number[] {
  const allowed = heldBack(logits, settings.never);
  const scaled = allowed.map((z) => z / settings.temperature);
  const judged = variant.temperature === 'first' ? scaled : allowed;
  const inTop = topKOf(judged, settings.topK);
  const measured = variant.topP === 'after top-k' ? keep(judged, inTop) : judged;
  const inNucleus = nucleusOf(measured, settings.topP);
  return logSoftmax(keep(scaled, (id) => inTop(id) && inNucleus(id)));
}

/** Logits with -Infinity at ids that cannot be drawn. */
export function heldBack(logits: readonly number[], never: Ids): number[] {
  return logits.map((z, id) => (never.includes(id) ? -Infinity : z));
}

/**
 * How near the truncations come to deciding otherwise: the least distance of the mass before and behind a token from
 * p, and of neighbouring logits at the k-th place. What is nearer than a trainer's precision says nothing of it.
 */
export function samplingClearance(
  logits: readonly number[],
  settings: SamplingSettings,
  variant: SamplingVariant,
): number {
  const allowed = heldBack(logits, settings.never);
  const judged = variant.temperature === 'first' ? allowed.map((z) => z / settings.temperature) : allowed;
  const ranked = judged.toSorted((a, b) => b - a);
  const [last = -Infinity, next = -Infinity] = [ranked[settings.topK - 1], ranked[settings.topK]];
  // Where no token that can be drawn is left for the place behind, nothing is decided there.
  const atK = settings.topK === 0 || next === -Infinity ? Infinity : last - next;
  if (settings.topP >= 1) return atK;
  const measured = variant.topP === 'after top-k' ? keep(judged, topKOf(judged, settings.topK)) : judged;
  let [mass, least] = [0, Infinity];
  for (const [probability, following] of neighbours(
    logSoftmax(measured)
      .map(Math.exp)
      .toSorted((a, b) => b - a),
  )) {
    const before = mass;
    mass += probability;
    if (before >= settings.topP) break;
    least = Math.min(least, Math.abs(mass - settings.topP));
    // Where the nucleus ends, its last token must not be as likely as the next one.
    if (mass >= settings.topP && following > 0) least = Math.min(least, probability - following);
  }
  return Math.min(atK, least);
}

function* neighbours(values: readonly number[]): Generator<readonly [number, number]> {
  for (const [at, value] of values.entries()) yield [value, values[at + 1] ?? 0];
}

function keep(values: readonly number[], kept: (id: number) => boolean): number[] {
  return values.map((value, id) => (kept(id) ? value : -Infinity));
}

/** Ties at the k-th place are all kept, as a comparison with the k-th logit does it. */
function topKOf(values: readonly number[], k: number): (id: number) => boolean {
  if (k <= 0 || k >= values.length) return () => true;
  const least = values.toSorted((a, b) => b - a)[k - 1] ?? -Infinity;
  return (id) => (values[id] ?? -Infinity) >= least;
}

function nucleusOf(values: readonly number[], p: number): (id: number) => boolean {
  if (p >= 1) return () => true;
  const probabilities = logSoftmax(values).map(Math.exp);
  const order = probabilities
    .map((_, id) => id)
    .sort((a, b) => (probabilities[b] ?? 0) - (probabilities[a] ?? 0));
  const kept = new Set<number>();
  let mass = 0;
  for (const id of order) {
    kept.add(id);
    mass += probabilities[id] ?? 0;
    if (mass >= p) break;
  }
  return (id) => kept.has(id);
}
