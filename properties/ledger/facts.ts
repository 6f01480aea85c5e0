// A rule that `check` has as well is told in the same words: its facts are taken from that property.
import type { PropertyFacts } from '../../src/index.ts';
import { properties } from '../index.ts';

/**
 * What is said of the property with this id, in a ledger as in a check.
 * @throws TypeError where the property is gone.
 */
export function factsOf(id: string): PropertyFacts {
  const property = properties.find((each) => each.id === id);
  if (property === undefined) throw new TypeError(`${id}: the property that it repeats is gone`);
  const { title, stage, level, why, catches } = property;
  return { id, title, stage, level, why, catches };
}
