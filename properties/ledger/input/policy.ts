// Whether a script trains what it sampled as a policy, with rewards: only then must rows be scored as they were sampled.
// Rows of a data set beside samples for the log, and supervised training on samples, are no such thing.
import { type Ledger, type LedgerRow, realIds, targetsOf } from '../../../src/index.ts';
import { isSampled } from '../tokens/trained.ts';
import { groupRelative, otherTrainer } from '../weights/declared.ts';
import { endsWith } from './kin.ts';

/** Sampled rows are trained as a policy: a trainer that does so, or samples some of which are pushed down. */
export function trainsPolicy(ledger: Ledger): boolean {
  if (groupRelative(ledger.settings) !== undefined) return true;
  if (otherTrainer(ledger.settings) || pairsOnly(ledger) || bestAgainstWorst(ledger)) return false;
  return ledger.rows.some((row) => isPushedDown(row) && (isSampled(row) || endsSampled(ledger, row)));
}

/** Some of its tokens are made less likely, as supervised training never does. */
export const isPushedDown = (row: LedgerRow): boolean =>
  targetsOf(row).some(({ trained: { weight = 0 } }) => weight < 0);

/** So many sampled ids stand at the end of another row by no chance. */
export const TELLING = 3;

function endsSampled({ generations }: Ledger, row: LedgerRow): boolean {
  const ids = realIds(row);
  return generations.some(
    ({ completionIds }) => completionIds.length >= TELLING && endsWith(ids, completionIds),
  );
}

/** Two completions a prompt and a reference: preference pairs look the same, and are scored at temperature 1 by right. */
function pairsOnly({ generations, scored }: Ledger): boolean {
  const sizes = new Map<string, number>();
  for (const { step, promptIds } of generations) {
    const key = `${step}: ${promptIds.join(' ')}`;
    sizes.set(key, (sizes.get(key) ?? 0) + 1);
  }
  return scored.some(({ by }) => by === 'reference') && [...sizes.values()].every((size) => size === 2);
}

/** Of all that was sampled for a prompt one is pushed up and one down: the pairs of a preference, chosen out of many. */
function bestAgainstWorst({ generations, rows }: Ledger): boolean {
  const signs = new Map<string, number[]>();
  for (const row of rows) {
    const { origin } = row.spans;
    const prompt =
      origin.kind === 'generation' ? generations[origin.generations[0] ?? -1]?.promptIds : undefined;
    const weights = targetsOf(row).map(({ trained: { weight = 0 } }) => Math.sign(weight));
    if (prompt === undefined || !row.reached) continue;
    const key = `${row.step}: ${prompt.join(' ')}`;
    signs.set(key, [...(signs.get(key) ?? []), new Set(weights).size === 1 ? (weights[0] ?? 0) : 0]);
  }
  return (
    signs.size > 0 &&
    [...signs.values()].every((each) => each.length === 2 && each.includes(1) && each.includes(-1))
  );
}

export const NO_POLICY =
  'no row is trained as a sampled policy: no trainer of a policy gradient is declared, and no sampled token is pushed down';
