// What a probe is: data. It names the items of the semantics that it measures, the ways of doing it that are known,
// the cases that tell them apart, and how a case is read. It judges nothing: profile.ts intersects the readings.
import fc from 'fast-check';
import type { Op } from '../../protocol/message.ts';
import type { Clamp, ClampByEstimator, ItemName, Semantics, TemplateArguments } from '../../vocabulary.ts';
import type { Pair } from '../numbers.ts';
import type { Subject, World } from '../property.ts';

export type ItemValue =
  | string
  | number
  | boolean
  | null
  | TemplateArguments
  | Exclude<Clamp, number>
  | ClampByEstimator;

/** A value as a sentence says it. */
export function wordsOf(value: ItemValue): string {
  if (typeof value === 'number') return String(Number(value.toPrecision(MOST_DIGITS)));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** One known way. An item that it leaves out has no effect there. */
export interface Variant {
  readonly name: string;
  readonly items: Semantics;
}

/** Where a case disagrees with a variant, and how far: 1 is the most that rounding explains. */
export interface Misfit {
  readonly where: string;
  readonly expected: number;
  readonly observed: number;
  readonly off: number;
}

export interface Probe<Case = unknown> {
  readonly id: string;
  readonly items: readonly ItemName[];
  /** Items that it does not measure, but whose values, all together, it holds against whole batches. */
  readonly confirms?: readonly ItemName[];
  readonly ops: readonly Op[];
  /** Any one of its ops shows the items; otherwise it takes them all. */
  readonly anyOp?: true;
  /**
   * Its ways are all that there are, and told apart by more than rounding: answers that follow none of them throughout, which a
   * property that accepts each case in any of them would pass, are asked about.
   */
  readonly complete?: true;
  /** Answers that follow none of its ways are noted: others may be meant, and the first item says so as `own`. */
  readonly mayBeOwn?: true;
  /** Why it cannot measure here; its world has what is declared and what was measured before. */
  readonly lack?: (world: World) => string | undefined;
  /** May ask the trainer, to solve for a number that no list can hold. */
  readonly variants: (subject: Subject) => Promise<readonly Variant[]>;
  /** Separating cases made by hand, then `drawn` ones from a fixed seed. */
  readonly cases: (world: World, drawn: number) => readonly Case[];
  /** One entry a variant, undefined where it fits. `discard` ends a case that tells nothing. */
  readonly fits: (
    subject: Subject,
    given: Case,
    variants: readonly Variant[],
  ) => Promise<readonly (Misfit | undefined)[]>;
}

/** An op that it takes and the trainer does not offer. */
export function missingOp(
  { ops, anyOp }: Pick<Probe, 'ops' | 'anyOp'>,
  offered: World['hello']['ops'],
): Op | undefined {
  const missing = ops.filter((op) => offered[op] === undefined);
  return anyOp && missing.length < ops.length ? undefined : missing[0];
}

/** Fixed, so that the same trainer always has the same profile. */
const SEED = 20_250_607;

export function draw<Case>(arbitrary: fc.Arbitrary<Case>, count: number): Case[] {
  return count === 0 ? [] : fc.sample(arbitrary, { seed: SEED, numRuns: count });
}

/** The worst of the pairs that are further apart than `allowed`. */
export function misfitOf(pairs: readonly Pair[], allowed: (expected: number) => number): Misfit | undefined {
  let worst: Misfit | undefined;
  for (const { where, expected = Number.NaN, observed = Number.NaN } of pairs) {
    const off = offBy(expected, observed, allowed(expected));
    if (off > 1 && off > (worst?.off ?? 0)) worst = { where, expected, observed, off };
  }
  return worst;
}

function offBy(expected: number, observed: number, allowed: number): number {
  if (Object.is(expected, observed) || expected === observed) return 0;
  const gap = Math.abs(expected - observed);
  return Number.isFinite(gap) ? gap / Math.max(allowed, Number.MIN_VALUE) : Number.POSITIVE_INFINITY;
}

/** A solved number as someone wrote it: the declared one, or the shortest decimal, within what rounding blurs. */
export function settled(value: number, blur: number, declared?: number | null): number {
  const near = (other: number): boolean => Math.abs(other - value) <= blur * Math.abs(value);
  if (typeof declared === 'number' && near(declared)) return declared;
  for (let digits = 1; digits < MOST_DIGITS; digits++) {
    const short = Number(value.toPrecision(digits));
    if (near(short)) return short;
  }
  return Number(value.toPrecision(MOST_DIGITS));
}

/** float32 has seven, and the last of them is rounding. */
const MOST_DIGITS = 6;
