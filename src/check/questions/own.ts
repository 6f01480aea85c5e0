// A formula that is declared as the trainer's own and is a known one in every case. An own formula is compared with no reference, so a
// later mistake in it would pass: ask which one it is.
import type { Formula, ItemName, Semantics } from '../../vocabulary.ts';
import type { PropertyResult } from '../events.ts';
import { declaration } from '../profile/doubt.ts';
import { wordsOf } from '../profile/probe.ts';
import type { Property, World } from '../property.ts';
import { supportOf } from '../support.ts';

/** Fewer cases may lack the kind in which the formulas differ, such as a group without spread or a ratio beyond its clip. */
const LEAST_CASES = 50;

/** Requests of `advantages` have one number per row, so a mean over tokens and one over rows are the same. */
const isToldByItsRequests = (formula: Formula): boolean => formula !== 'advantages';

/**
 * The question in place of a property whose formula is the trainer's own, where `judge` finds that it holds without that declaration.
 * A formula that fits only some cases is another one, and nothing is asked.
 */
export async function knownAfterAll(
  property: Property,
  world: World,
  judge: (world: World) => Promise<PropertyResult>,
): Promise<PropertyResult | undefined> {
  const { settles = [], ops } = property;
  const own = world.semantics.own_formulas ?? [];
  const formulas = own.filter((formula) => isToldByItsRequests(formula) && ops.some((op) => op === formula));
  const { measured = {} } = world;
  const known = settles.filter((item) => measured[item] !== undefined);
  if (formulas.length === 0 || known.length === 0) return undefined;
  const others = own.filter((formula) => !formulas.includes(formula));
  const bare = { ...world, semantics: { ...world.semantics, own_formulas: others } };
  if (supportOf(property, bare) !== undefined) return undefined;
  const result = await judge(bare);
  return result.verdict === 'pass' && result.cases >= LEAST_CASES
    ? { ...result, verdict: 'ask', ...question(formulas, others, known, measured) }
    : undefined;
}

function question(
  formulas: readonly Formula[],
  others: readonly Formula[],
  known: readonly ItemName[],
  measured: Semantics,
): Required<Pick<PropertyResult, 'reason' | 'answers'>> {
  const words = known.map((item) => `${item} ${wordsOf(measured[item] ?? null)}`).join(', ');
  const lines = [
    declaration('own_formulas', others),
    ...known.map((item) => declaration(item, measured[item])),
  ];
  return {
    reason: `own_formulas names ${formulas.map((formula) => `\`${formula}\``).join(', ')}, but every answer is that of a known formula: ${words}. A formula of your own is compared with no reference, so a later mistake in it would pass.`,
    answers: [`${lines.join(', ')}  (it is this formula)`],
  };
}
