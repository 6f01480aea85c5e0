// The pairs of a preference data set as a script has trained them: a chosen answer and a rejected one of one example, in one
// optimiser step.
import { type Ledger, type LedgerRow, targetsOf } from '../../../src/index.ts';
import { isOffTarget } from '../tokens/trained.ts';
import { asides } from '../words.ts';

export interface Pair {
  readonly step: number;
  /** The line of the data set. */
  readonly example: number;
  readonly chosen: Side;
  readonly rejected: Side;
}

export interface Side {
  readonly row: LedgerRow;
  /** What its tokens were: likelier, less likely, left as they are, some of each. */
  readonly pushed: 'up' | 'down' | 'not' | 'both';
}

/** Pairs of which both rows are known, and were reached; and of each row that is in none, why. */
export function pairsOf(ledger: Ledger): {
  readonly pairs: readonly Pair[];
  readonly alone: readonly string[];
} {
  const alone: string[] = [];
  const sides = new Map<string, { chosen: LedgerRow[]; rejected: LedgerRow[] }>();
  for (const row of ledger.rows) {
    const { origin } = row.spans;
    if (origin.kind !== 'dataset' || (origin.form !== 'chosen' && origin.form !== 'rejected')) continue;
    if (!row.reached || row.notFinite > 0 || isOffTarget(row)) continue;
    // Chosen in one pair and rejected in another, or the same answer of two: its ids do not say which it is.
    if (origin.shared) {
      alone.push('the answer stands in several pairs of the data set');
      continue;
    }
    const key = `${row.step} ${origin.example}`;
    const own = sides.get(key) ?? { chosen: [], rejected: [] };
    own[origin.form].push(row);
    sides.set(key, own);
  }
  const pairs: Pair[] = [];
  for (const [key, { chosen, rejected }] of sides) {
    const [step = 0, example = 0] = key.split(' ').map(Number);
    const [up, down] = [chosen.map(sideOf), rejected.map(sideOf)];
    const [first, second] = [up[0], down[0]];
    if (first === undefined || second === undefined || up.length !== 1 || down.length !== 1)
      alone.push(
        ...asides(
          up.length + down.length,
          'the step does not train one chosen and one rejected row of the example',
        ),
      );
    else pairs.push({ step, example, chosen: first, rejected: second });
  }
  return { pairs, alone };
}

function sideOf(row: LedgerRow): Side {
  const signs = new Set(
    targetsOf(row).flatMap(({ trained: { weight } }) =>
      weight === undefined || weight === 0 ? [] : [Math.sign(weight)],
    ),
  );
  return { row, pushed: signs.size === 2 ? 'both' : signs.has(1) ? 'up' : signs.has(-1) ? 'down' : 'not' };
}

/** Of a rule about pairs. */
export const needsPairs = (ledger: Ledger): string | undefined =>
  pairsOf(ledger).pairs.length > 0
    ? undefined
    : 'no step trained the chosen and the rejected answer of an example: --dataset FILE names the pairs that the script trains on';

/** An objective that is declared, and whether it ever turns round where the model tells the two apart too well. */
export function objectiveOf({ settings: { semantics, values } }: Ledger): {
  readonly name: string | undefined;
  readonly turns: boolean;
} {
  const { preference_objective: name, preference_label_smoothing: smoothing = 0 } = semantics;
  const other = Number(values.rpo_alpha ?? 0) > 0;
  return { name: other ? undefined : name, turns: name === 'ipo' || smoothing > 0 };
}
