// What a trainer's refusals cost a run: properties without a verdict, and a run without one.
import { MUCH_LEFT_OUT, type PropertyFacts, type PropertyResult } from '../events.ts';

type Judged = Pick<PropertyResult, 'verdict'> &
  Partial<Pick<PropertyResult, 'cases' | 'rejected' | 'setAside'>>;

/**
 * The share of cases that a property may hold without. Correct trainers refuse up to two thirds, as whoever takes no system messages
 * does of batches of conversations; Hypothesis, too, ends a test that filters five of six. `--strict` asks for half.
 */
export function mostNotJudged(strict: boolean): number {
  return strict ? 0.5 : 0.8;
}

/** The trainer refused so much that the property has no verdict. */
export function isLostToRefusals({ verdict, rejected = 0, setAside = 0 }: Judged): boolean {
  return verdict === 'skipped' && rejected > 0 && rejected >= setAside;
}

/** It holds, on what the trainer did not refuse: less than four fifths of the cases. */
export function isMuchRefused({ verdict, cases = 0, rejected = 0 }: Judged): boolean {
  return verdict === 'pass' && rejected > cases * MUCH_LEFT_OUT;
}

/** An op that the trainer offers and refuses for the most part. */
export interface RefusedOp {
  readonly op: string;
  /** Properties that refusals left without a verdict. */
  readonly lost: number;
  readonly holding: number;
}

/**
 * Ops of which more properties are lost to refusals than pass. Properties of other ops say nothing about them, yet a reader of a
 * passing run takes every offered op for checked. Ops that are not offered have no lost properties.
 */
export function mostlyRefused(
  results: readonly (Judged & Pick<PropertyResult, 'id'>)[],
  facts: readonly Pick<PropertyFacts, 'id' | 'ops'>[],
): readonly RefusedOp[] {
  const opsOf = new Map(facts.map(({ id, ops = [] }) => [id, ops]));
  return [...new Set([...opsOf.values()].flat())]
    .map((op) => {
      const asked = results.filter(({ id }) => opsOf.get(id)?.includes(op) === true);
      return {
        op,
        lost: asked.filter(isLostToRefusals).length,
        holding: asked.filter(({ verdict }) => verdict === 'pass' || verdict === 'known').length,
      };
    })
    .filter(({ lost, holding }) => lost > holding);
}
