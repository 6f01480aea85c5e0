// A difference from a formula is a failure where the trainer has said which formula it is, and a question where nobody has:
// what fits none of the known ways may still be meant.
import type { Formula, ItemName, Semantics } from '../../vocabulary.ts';
import { declaration } from '../profile/doubt.ts';
import { ownFormula } from '../profile/unknown.ts';
import type { Finding, World } from '../property.ts';

/**
 * What a finding of this formula is answered by; nothing where one of `items` is declared, and the finding is a failure.
 * `closest` is the way that came closest: declared, the difference is a failure, too.
 */
export function answersOf(
  { semantics, measured = {} }: Pick<World, 'semantics' | 'measured'>,
  formula: Formula,
  items: readonly ItemName[],
  closest: Semantics = {},
): Pick<Finding, 'answers'> {
  if (items.some((item) => semantics[item] !== undefined && measured[item] === undefined)) return {};
  const lines = items
    .filter((item) => closest[item] !== undefined)
    .map((item) => `${declaration(item, closest[item])}  (it should be this)`);
  return { answers: [...lines, ownFormula(formula, semantics)] };
}
