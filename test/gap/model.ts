// Rollouts of small random models, with both sides computed from the same logits: the engine samples from its own, the
// trainer scores what was sampled with its own. A planted cause changes one of the two.
import type { Rollout } from '../../src/gap/read/read.ts';

export interface Place {
  readonly ids: readonly number[];
  readonly prompt: readonly number[];
  /** Of the completion's token. */
  readonly position: number;
  readonly random: () => number;
  readonly row: number;
}
/** Changes logits in place of the softmax's. */
export type Change = (logits: Float64Array, place: Place) => Float64Array;

export interface Planted {
  readonly engine?: Change;
  readonly trainer?: Change;
  /** Of the recorded numbers of a row, after all. */
  readonly recorded?: (row: Recorded) => Recorded;
}
export interface Recorded {
  readonly sampling: readonly number[];
  readonly trainer: readonly number[];
  readonly version?: (at: number) => number;
  readonly step?: number;
}

/** And what the model gives without a change and without noise. */
export interface Sampled extends Rollout {
  readonly exact: Float64Array;
}

export interface Size {
  readonly seed: number;
  readonly rows?: number;
  readonly length?: number;
  /** Standard deviation of logits: 2 is undecided, 5 is sure of most tokens. */
  readonly sharpness?: number;
  /** Completions per prompt. */
  readonly group?: number;
}

export const VOCABULARY = 120;
export const STOP = 0;

export function rolloutsWith(
  planted: Planted,
  { seed, rows = 200, length = 60, sharpness = 3, group = 4 }: Size,
): Sampled[] {
  const random = randomOf(seed);
  return Array.from({ length: rows }, (_, row): Sampled => {
    const prompt = promptOf(seed, Math.floor(row / group));
    const ids: number[] = [];
    const [sampling, trainer, exact]: [number[], number[], number[]] = [[], [], []];
    while (ids.length < length) {
      const place = { ids, prompt, position: ids.length, random, row };
      const logits = logitsOf(seed, prompt, ids, sharpness);
      const engine = logprobsOf(planted.engine?.(logits.slice(), place) ?? logits);
      const id = drawn(engine, random());
      sampling.push(engine[id] ?? 0);
      trainer.push(logprobsOf(planted.trainer?.(logits.slice(), place) ?? logits)[id] ?? 0);
      exact.push(logprobsOf(logits)[id] ?? 0);
      ids.push(id);
      if (id === STOP) break;
    }
    const kept = planted.recorded?.({ sampling, trainer }) ?? { sampling, trainer };
    return {
      prompt,
      ids,
      written: () => true,
      names: { sampling: 'sampling', trainer: 'trainer' },
      ...kept,
      sampling: Float64Array.from(kept.sampling),
      trainer: Float64Array.from(kept.trainer),
      exact: Float64Array.from(exact),
    };
  });
}

function promptOf(seed: number, at: number): number[] {
  const random = randomOf(Math.imul(seed + 1, 31_337) + at);
  return Array.from(
    { length: 5 + Math.floor(random() * 10) },
    () => 1 + Math.floor(random() * (VOCABULARY - 1)),
  );
}

/** A bigram model whose sureness differs by place, and which stops sooner or later. */
export function logitsOf(
  seed: number,
  prompt: readonly number[],
  ids: readonly number[],
  sharpness: number,
): Float64Array {
  const before = ids.at(-1) ?? prompt.at(-1) ?? 0;
  const key = `${seed} ${sharpness} ${before}`;
  let known = LOGITS.get(key);
  if (known === undefined) {
    const random = randomOf(Math.imul(seed + 1, 7919) ^ (before * 104_729));
    const own = sharpness * (0.3 + 1.2 * random());
    known = Float64Array.from({ length: VOCABULARY }, () => own * gaussian(random));
    LOGITS.set(key, known);
  }
  const logits = known.slice();
  logits[STOP] = (logits[STOP] ?? 0) - (ids.length < 10 ? 6 : 1);
  return logits;
}

const LOGITS = new Map<string, Float64Array>();

/** By loops: there are millions of them. */
export function logprobsOf(logits: Float64Array): Float64Array {
  let most = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < logits.length; at++) most = Math.max(most, logits[at] ?? 0);
  let total = 0;
  for (let at = 0; at < logits.length; at++) total += Math.exp((logits[at] ?? 0) - most);
  const scale = Math.log(total);
  const out = new Float64Array(logits.length);
  for (let at = 0; at < logits.length; at++) out[at] = (logits[at] ?? 0) - most - scale;
  return out;
}

/** mulberry32: the same numbers everywhere. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Near enough to a normal deviate. */
export function gaussian(random: () => number): number {
  return (random() + random() + random() + random() - 2) * Math.sqrt(3);
}

function drawn(logprobs: Float64Array, at: number): number {
  let left = at;
  for (let id = 0; id < logprobs.length; id++) {
    left -= Math.exp(logprobs[id] ?? 0);
    if (left < 0) return id;
  }
  return logprobs.indexOf(logprobs.reduce((a, b) => Math.max(a, b)));
}
