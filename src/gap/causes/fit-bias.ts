// A bias b on the logits of some tokens, fitted. With m the share of the others' mass that is biased too, the softmax follows
// for the biased and, a little, for all others.
import type { Fit } from '../cause.ts';
import { gapAt, type Tokens } from '../tokens.ts';
import { bestOf, pairs, probability, thinned, trainerAt } from './curves.ts';

export interface BiasFit extends Pick<Fit, 'parameters' | 'left'> {
  readonly bias: number;
  readonly cost: number;
}

export function fitBias(
  tokens: Tokens,
  places: Uint32Array,
  isBiased: (at: number) => boolean,
): BiasFit | undefined {
  const few = thinned(places);
  const biased = few.filter(isBiased).length;
  if (biased === 0 || biased === few.length) return undefined;
  const left =
    (bias: number, mass: number) =>
    (at: number): number =>
      gapAt(tokens, at) + movedBy(probability(trainerAt(tokens, at)), isBiased(at), bias, mass);
  const [gaps, ps, own] = [
    Float64Array.from(few, (at) => gapAt(tokens, at)),
    Float64Array.from(few, (at) => probability(trainerAt(tokens, at))),
    Uint8Array.from(few, (at) => Number(isBiased(at))),
  ];
  const cost = ([bias, mass]: readonly [number, number]): number => {
    let sum = 0;
    for (let at = 0; at < gaps.length; at++)
      sum += Math.abs((gaps[at] ?? 0) + movedBy(ps[at] ?? 0, own[at] === 1, bias, mass));
    return sum;
  };
  if (Math.abs(apart(gaps, own)) < (LEAST_APART * sumOf(gaps, Math.abs)) / gaps.length) return undefined;
  const share = biased / few.length;
  const likely = [...pairs(BIASES, MASSES)].filter(
    ([bias, mass]) => Math.abs(massOf(bias, mass) - share) < CALIBRATED,
  );
  const best = bestOf(likely, cost);
  if (best === undefined) return undefined;
  const [bias, mass] = best.value;
  return { parameters: { bias, mass }, left: left(bias, mass), bias, cost: best.cost };
}

/** The mean gap of biased tokens less that of the others. */
function apart(gaps: Float64Array, own: Uint8Array): number {
  const biased = own.reduce((sum, each) => sum + each, 0);
  let at = 0;
  const [inside, all] = [sumOf(gaps, (gap) => (own[at++] === 1 ? gap : 0)), sumOf(gaps, (gap) => gap)];
  return inside / biased - (all - inside) / (gaps.length - biased);
}

function sumOf(values: Float64Array, of: (value: number) => number): number {
  let sum = 0;
  for (const value of values) sum += of(value);
  return sum;
}

/** Of the engine, where the trainer has `mass`. */
function massOf(bias: number, mass: number): number {
  return (mass * Math.exp(bias)) / (mass * Math.exp(bias) + 1 - mass);
}

/** What a bias does to the log-probability of a token of probability `p`, biased itself or not. */
function movedBy(p: number, isBiased: boolean, bias: number, mass: number): number {
  const factor = Math.exp(bias);
  const total = p * (isBiased ? factor : 1) + (1 - p) * (mass * factor + 1 - mass);
  return (isBiased ? bias : 0) - Math.log(total);
}

const BIASES = [-8, -5, -4, -3, -2.5, -2, -1.5, -1.2, -1, -0.8, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1].flatMap(
  (bias) => [bias, -bias],
);
const MASSES = [0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95];
/** Biased tokens are sampled as often as the engine's mass says, within what p of the sampled token leaves open. */
const CALIBRATED = 0.25;
/** Of the mean |gap|: penalties have two to four times it, other weights a tenth. */
const LEAST_APART = 0.5;
