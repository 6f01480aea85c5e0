// Comparing numbers with a tolerance that follows from what the trainer computes in, and saying how far off they are.
import type { Op } from '../protocol/message.ts';
import { allowed, close, type Tolerance, tolerance } from '../reference/index.ts';
import type { DType } from '../vocabulary.ts';
import type { Finding, NumberDifference, Strip, World } from './property.ts';

export interface Band {
  readonly absolute: number;
  readonly relative: number;
  readonly reason: string;
  close(observed: number | undefined, expected: number | undefined): boolean;
  allowed(expected: number): number;
}

const FINEST_FIRST: readonly DType[] = ['float64', 'float32', 'float16', 'bfloat16'];

/**
 * The world as a check of these ops is to see it: one of them may compute in another dtype than its trainer, and the coarsest
 * bounds what can be told.
 */
export function inDtypeOf<W extends World>(world: W, ops: readonly Op[]): W {
  const { hello } = world;
  if (ops.every((op) => hello.ops[op]?.dtype === undefined)) return world;
  const used = ops.map((op) => FINEST_FIRST.indexOf(hello.ops[op]?.dtype ?? hello.dtype ?? 'float32'));
  const dtype = FINEST_FIRST[Math.max(...used)];
  return dtype === undefined ? world : { ...world, hello: { ...hello, dtype } };
}

/** The band of one comparison; `terms` is the length of the longest sum in it. */
export function bandOf(world: World, terms = 1): Band {
  return bandFrom(tolerance(world.hello.dtype ?? 'float32', { terms }));
}

/** A tolerance with what is done with it. */
export function bandFrom(band: Tolerance): Band {
  return {
    ...band,
    close: (observed, expected) => close(observed ?? Number.NaN, expected ?? Number.NaN, band),
    allowed: (expected) => allowed(expected, band),
  };
}

/** bfloat16 or float16: two numbers that differ may be rounded to the same one. */
export const isHalf = ({ hello: { dtype } }: World): boolean => dtype === 'bfloat16' || dtype === 'float16';

/**
 * Whether a KL may be estimated in one way and descended in another: where it is declared that the loss is not what is
 * descended, or where `loss/weights-are-the-slope-of-the-loss` asks.
 */
export function mayDescendStraight(world: World): boolean {
  const { loss_is_descended: declared, policy_objective } = world.semantics;
  return declared === undefined ? !isHalf(world) && policy_objective !== 'cispo' : !declared;
}

/**
 * How far off a difference of numbers of this size may be, which the band of the difference itself does not say: an
 * entropy is often computed as log-sum-exp of the logits less their mean, each as large as the logits.
 */
export function cancellation({ hello }: World, size: number): number {
  return CANCELLED * SPACING[hello.dtype ?? 'float32'] * size;
}

/**
 * The half precision that all of these numbers are written in, whatever the trainer declares for itself: one op of a
 * float32 trainer may well work in it. Two short numbers may be so by chance; rounding is all that it excuses.
 */
export function roundedTo({ hello: { dtype } }: World, values: readonly number[]): number | undefined {
  if (dtype === 'bfloat16' || dtype === 'float16') return undefined; // its band has room for it
  const told = values.filter((value) => value !== 0 && Number.isFinite(value));
  const half = HALVES.find(({ bits }) => told.length > 0 && told.every((value) => fitsIn(value, bits)));
  return half?.spacing;
}

/** Bits of a significand, the leading one among them, and the spacing of numbers between 1 and 2. */
const HALVES = [
  { bits: 8, spacing: 2 ** -7 },
  { bits: 11, spacing: 2 ** -10 },
] as const;

function fitsIn(value: number, bits: number): boolean {
  return Number.isInteger(value / 2 ** (Math.floor(Math.log2(Math.abs(value))) - (bits - 1)));
}

/** Of numbers between 1 and 2. */
const SPACING: Readonly<Record<DType, number>> = {
  float64: 2 ** -52,
  float32: 2 ** -23,
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
};
/** Roundings of half a spacing each: probabilities, products, their sum, the log-sum-exp. */
const CANCELLED = 2;

/**
 * Terms of a number that a whole model made: rounding grows with width, a kernel may order its sums by shape, and two
 * passes may be batched differently.
 */
export const MODEL_TERMS = 64;

/** "1 token", "3 tokens". */
export function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Six digits are enough to recognise a number by. */
export function show(value: number | undefined): string {
  return value === undefined ? 'missing' : String(Number(value.toPrecision(6)));
}

export interface Pair {
  readonly where: string;
  readonly expected: number | undefined;
  readonly observed: number | undefined;
}

/** A finding with its numbers, worst first. */
export function numberFinding(parts: {
  readonly kind: string;
  readonly sentence: string;
  readonly band: Band;
  readonly pairs: readonly Pair[];
  readonly strips?: readonly Strip[];
  readonly note?: string;
  readonly answers?: readonly string[];
}): Finding {
  const numbers = parts.pairs.map(
    ({ where, expected = Number.NaN, observed = Number.NaN }): NumberDifference => ({
      where,
      expected,
      observed,
      allowed: parts.band.allowed(expected),
    }),
  );
  const gap = ({ expected, observed }: NumberDifference): number => {
    const distance = Math.abs(observed - expected);
    return Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
  };
  // NaN where a number was expected has another cause than a wrong number, and a smaller case.
  const broken = numbers.some(
    ({ expected, observed }) => Number.isFinite(expected) && !Number.isFinite(observed),
  );
  return {
    kind: broken ? `${parts.kind}, not finite` : parts.kind,
    sentence: parts.sentence,
    numbers: numbers.sort((a, b) => gap(b) - gap(a)),
    note: [parts.band.reason, ...(parts.note === undefined ? [] : [parts.note])].map(sentence).join(' '),
    ...(parts.strips === undefined ? {} : { strips: parts.strips }),
    ...(parts.answers === undefined ? {} : { answers: parts.answers }),
  };
}

/** A capital and a full stop, where they are missing; ids and names in backquotes keep their case. */
function sentence(text: string): string {
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
