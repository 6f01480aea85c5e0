// Whether two runs of one script agree, and where they part first. The measure is the script's own rounding: a run in which
// every weight was moved by its rounding error (lossproof_trace/twins/_noise.py) shows what can come of it.

import { type BackwardPlace, backwardPlace } from './backward.ts';
import type { StepDistance, TensorDistance, TensorDistances, TokenDistance } from './distance.ts';
import type { Picture } from './picture.ts';
import { FLOOR, MARGIN, medianOf, unitsOf } from './rounding.ts';
import type { TwinRow } from './run.ts';

export type Outcome =
  | {
      readonly kind: 'agree';
      readonly steps: number;
      /** The largest difference over what rounding explains; 0: the same to the last bit. */
      readonly units: number;
      readonly picture?: Picture;
      /** From this step on rounding alone moves the gradients so far that nothing can be said; absent: none. */
      readonly until?: number;
    }
  | { readonly kind: 'parts'; readonly difference: Difference; readonly picture?: Picture }
  /** All numbers differ, as they must: how far, in the first step. */
  | {
      readonly kind: 'sized';
      readonly step: number;
      readonly precisions: readonly [first: string, second: string];
      /** Norm of the difference of all gradients, over the larger norm. */
      readonly gradients: number;
      readonly worst: { readonly name: string; readonly relative: number };
      /** Share of the elements of all gradients whose sign is the opposite; undefined: not known. */
      readonly signs: number | undefined;
      /** The largest difference of a log-probability. */
      readonly logprob: number;
      /** What rounding does to the gradients without the change. */
      readonly rounding: number | undefined;
    }
  | {
      readonly kind: 'untold';
      readonly why: string;
      /** What a script that failed wrote to stderr last. */
      readonly lines?: readonly string[];
    };

/** Where two runs part first, in the order of what happens in a step. */
export type Difference = { readonly step: number } & (
  | { readonly what: 'start'; readonly tensors: readonly Apart[]; readonly of: number }
  | { readonly what: 'rows'; readonly alone: StepDistance['alone']; readonly targets: boolean }
  | ({ readonly what: 'logprobs' | 'weights' } & TokensApart)
  | {
      readonly what: 'gradients' | 'updates';
      readonly tensors: readonly Apart[];
      readonly of: number;
      readonly explained: number;
      /** All that differ are so many times the first. */
      readonly factor?: number;
      /** The tensor nearest to the loss that differs, where all that are nearer agree: the backward pass goes wrong there. */
      readonly begins?: string;
      /** Where the backward pass goes wrong first; absent: it was not seen. */
      readonly backward?: BackwardPlace;
      /** Micro-batches of the second run that are not in its gradient; absent: none, or it is not known. */
      readonly lost?: readonly number[];
    }
  /** Gradients of NaN or infinity in one run only: the one with the change, or the other. */
  | { readonly what: 'finite'; readonly with: boolean; readonly names: readonly string[] }
  /** The second run ended by itself with fewer steps. */
  | { readonly what: 'count'; readonly counts: readonly [first: number, second: number] }
  | { readonly what: 'rates'; readonly rates: StepDistance['rates'] }
);

export interface TokensApart {
  /** The one that is furthest apart. */
  readonly token: TokenDistance;
  /** As far as rounding may take them apart. */
  readonly explained: number;
  /** Tokens that are further apart than that, of how many. */
  readonly tokens: number;
  readonly of: number;
  /** The first module whose output is apart; absent: no module's is, or none was seen. */
  readonly module?: string;
}

export interface Apart extends TensorDistance {
  readonly name: string;
}

/** Where rounding alone moves gradients by so much, the runs have gone their own ways. */
const CHAOS = 0.1;

/** @param noise the distances of the script from itself, its weights moved by their rounding; of as many steps, or of fewer */
export function outcomeOf(
  distances: readonly StepDistance[],
  noise: readonly StepDistance[],
  isRepeat = false,
): Outcome {
  let units = 0;
  for (const [at, distance] of distances.entries()) {
    const rounding = noise[at];
    if (rounding === undefined) break;
    if (isChaos(rounding)) {
      if (at > 0) return { kind: 'agree', steps: at, units, until: distance.step };
      // The same script twice: what rounding could do is no excuse.
      const judged = isRepeat ? judgedStep(distance, EXACT) : undefined;
      return judged !== undefined && 'what' in judged
        ? { kind: 'parts', difference: judged }
        : { kind: 'untold', why: CHAOTIC };
    }
    const judged = judgedStep(distance, rounding);
    if ('what' in judged) return { kind: 'parts', difference: judged };
    units = Math.max(units, judged.units);
  }
  if (distances.length === 0 || noise.length === 0)
    return { kind: 'untold', why: 'no optimiser step of a language model was made in both runs' };
  if (distances.every(({ gradients }) => gradients.size === 0))
    return {
      kind: 'untold',
      why: 'the rows, their probabilities and their weights agree, but no gradient was there when the optimiser made its step, as in an engine that keeps gradients to itself',
    };
  return { kind: 'agree', steps: Math.min(distances.length, noise.length), units };
}

/** The same of a change that leaves some rows as they are and trains others beside them, in the first step: what comes after has other weights. */
export function outcomeOfRows(distances: readonly StepDistance[], noise: readonly StepDistance[]): Outcome {
  const [first] = distances;
  const [rounding] = noise;
  if (first === undefined || rounding === undefined || first.tokens.length === 0)
    return { kind: 'untold', why: 'no row of the first step was trained in both runs' };
  if (isChaos(rounding)) return { kind: 'untold', why: CHAOTIC };
  const apart = tokenApart(first, rounding, 'logprob');
  if (apart !== undefined) {
    const module = moduleOf(first, rounding);
    const difference = { what: 'logprobs' as const, step: first.step, ...apart };
    return { kind: 'parts', difference: module === undefined ? difference : { ...difference, module } };
  }
  const most = first.tokens.reduce((top, each) => Math.max(top, each.logprob ?? 0), 0);
  return { kind: 'agree', steps: 1, units: most / unitsOf(rounding).logprob };
}

/** Rounding takes the script so far from itself, or has it sample other tokens, that any difference would pass for it. */
export function isChaos(noise: StepDistance | undefined): boolean {
  return (
    noise !== undefined && (noise.alone.some((rows) => rows.length > 0) || medianOf(noise.gradients) > CHAOS)
  );
}

/** More than any rounding of a weight, bfloat16's included. */
const MOST_ROUNDING = 1e-2;

/** Two runs of one script, one of them with its weights moved by their rounding, differ in what no rounding changes. */
export function mayDifferFromItself(noise: StepDistance | undefined): boolean {
  return isChaos(noise) || (noise !== undefined && apartOf(noise.before, () => MOST_ROUNDING).length > 0);
}

// --- helpers ---

const CHAOTIC =
  'rounding alone changes the rows or moves the gradients of the first step by more than 10 %; try float32';

/** Rounding that changes nothing. */
const EXACT: StepDistance = {
  step: 0,
  before: new Map(),
  alone: [[], []],
  tokens: [],
  outputs: new Map(),
  backward: new Map(),
  gradients: new Map(),
  signs: new Map(),
  rates: [[], []],
  after: new Map(),
};

/** What it begins with, and which rows it trains: numbers that no rounding has moved yet. */
function beginApart({ step, before, alone }: StepDistance): Difference | undefined {
  const begin = apartOf(before, () => FLOOR);
  if (begin.length > 0) return { what: 'start', step, tensors: begin, of: before.size };
  const [first, second] = alone;
  if (first.length > 0 || second.length > 0) {
    const idsOf = (rows: readonly TwinRow[]): string =>
      rows
        .map(({ ids }) => ids.join(','))
        .sort()
        .join('|');
    return { what: 'rows', step, alone, targets: idsOf(first) === idsOf(second) };
  }
  return undefined;
}

function judgedStep(distance: StepDistance, noise: StepDistance): Difference | { readonly units: number } {
  const { step, rates } = distance;
  const begin = beginApart(distance);
  if (begin !== undefined) return begin;
  const forward = tokenApart(distance, noise, 'logprob');
  if (forward !== undefined) {
    const module = moduleOf(distance, noise);
    return { what: 'logprobs', step, ...forward, ...(module === undefined ? {} : { module }) };
  }
  const weights = tokenApart(distance, noise, 'weight');
  if (weights !== undefined) return { what: 'weights', step, ...weights };
  const units = unitsOf(noise);
  const gradients = apartOf(distance.gradients, (name) => MARGIN * units.gradient(name));
  if (gradients.length > 0) {
    const tensors = {
      tensors: gradients,
      of: distance.gradients.size,
      explained: MARGIN * medianOf(noise.gradients),
    };
    const where = { ...beginOf(gradients, distance.gradients), ...backwardOf(distance, noise) };
    return { what: 'gradients', step, ...tensors, ...factorOf(gradients), ...where, ...lostIn(distance) };
  }
  if (!sameRates(rates)) return { what: 'rates', step, rates };
  const stable = new Map([...distance.after].filter(([name]) => units.isStable(name)));
  const updates = apartOf(stable, (name) => MARGIN * units.after(name));
  if (updates.length > 0)
    return {
      what: 'updates',
      step,
      tensors: updates,
      of: stable.size,
      explained: MARGIN * medianOf(noise.after),
      ...factorOf(updates),
    };
  return {
    units: Math.max(
      0,
      ...[...distance.gradients].map(([name, { relative }]) => relative / units.gradient(name)),
    ),
  };
}

function apartOf(distances: TensorDistances, explained: (name: string) => number): readonly Apart[] {
  return [...distances].flatMap(([name, distance]) =>
    distance.relative > explained(name) ? [{ name, ...distance }] : [],
  );
}

function tokenApart(
  { tokens }: StepDistance,
  noise: StepDistance,
  field: 'logprob' | 'weight',
): TokensApart | undefined {
  const explained = MARGIN * unitsOf(noise)[field];
  const apart = tokens.filter((each) => (each[field] ?? 0) > explained);
  const [worst] = apart.toSorted((a, b) => (b[field] ?? 0) - (a[field] ?? 0));
  return worst === undefined
    ? undefined
    : { token: worst, tokens: apart.length, of: tokens.length, explained };
}

function moduleOf({ outputs }: StepDistance, noise: StepDistance): string | undefined {
  const units = unitsOf(noise);
  return [...outputs].find(([name, apart]) => apart > MARGIN * units.output(name))?.[0];
}

function backwardOf({ backward }: StepDistance, noise: StepDistance): { readonly backward?: BackwardPlace } {
  const units = unitsOf(noise);
  const place = backwardPlace(backward, (name) => MARGIN * units.backward(name));
  return place === undefined ? {} : { backward: place };
}

/** Tensors come in the order of the model, and a backward pass goes through them from the last one. */
function beginOf(apart: readonly Apart[], all: TensorDistances): { readonly begins?: string } {
  const last = apart.at(-1)?.name;
  return last === undefined || last === [...all.keys()].at(-1) ? {} : { begins: last };
}

/** Next to the largest factor, a backward pass of less is not in the gradient. */
const LOST = 0.05;

function lostIn({ delivered = [] }: StepDistance): { readonly lost?: readonly number[] } {
  const largest = Math.max(...delivered.map(Math.abs));
  const lost = delivered.flatMap((factor, batch) => (Math.abs(factor) < LOST * largest ? [batch] : []));
  return lost.length === 0 ? {} : { lost };
}

/** Tensors are taken to be a multiple where nearly nothing but the factor differs. */
const MOST_REST = 1e-2;

function factorOf(tensors: readonly Apart[]): { readonly factor?: number } {
  const [first] = tensors;
  if (first === undefined || !Number.isFinite(first.factor)) return {};
  const { factor } = first;
  const shared = tensors.every(
    (each) =>
      each.rest < MOST_REST * Math.max(each.relative, MOST_REST) &&
      Math.abs(each.factor - factor) < MOST_REST * Math.abs(factor),
  );
  return shared ? { factor } : {};
}

const sameRates = ([first, second]: StepDistance['rates']): boolean =>
  first.length !== second.length ||
  first.every((rate, at) => Math.abs(rate - (second[at] ?? 0)) <= FLOOR * Math.abs(rate));
