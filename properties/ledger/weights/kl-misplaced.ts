// A KL term whose reference scores stand elsewhere: in other rows of the batch, or a column beside their tokens. The weights
// tell: they lie on the line of an estimator for those scores, and not for the row's own.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerRow,
  many,
  type Target,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { misplacedIn } from '../input/misplaced.ts';
import { isSampled } from '../tokens/trained.ts';
import { placeOf } from '../words.ts';
import { gapsTo, klFits, referenceGaps } from './kl-term.ts';

export function misplacedKl(ledger: Ledger): readonly LedgerNotice[] {
  const rows = ledger.rows.filter((row) => row.reached && isSampled(row));
  const found = rows.flatMap((row) => {
    const says = sayOf(ledger, row);
    return says === undefined ? [] : [{ row, says }];
  });
  const [first] = found;
  const alike = found.filter(({ says }) => says === first?.says);
  // One row may be so by chance.
  if (first === undefined || alike.length < SEVERAL) return [];
  return [
    {
      sentence: `The weights of ${many(alike.length, 'completion')} (from ${placeOf(ledger, first.row)}) hold a KL term against other scores than those that the reference gives their tokens: ${first.says}. Order, pad and shift the log-probabilities of both models alike.`,
      answers: [],
      asked: true,
    },
  ];
}

// --- helpers ---

const SEVERAL = 2;
/** Two of these a line takes; the others lie on it by no chance. */
const FEWEST = 6;

function sayOf(ledger: Ledger, row: LedgerRow): string | undefined {
  const targets = targetsOf(row).filter(({ trained: { weight } }) => weight !== undefined);
  const explains = (d: readonly number[], some: readonly Target[]): boolean => {
    if (some.length < FEWEST || d.some(Number.isNaN)) return false;
    const weights = weightsOf(some);
    const noise = Math.max(...weights.map(({ value, relative }) => Math.abs(value) * relative));
    const values = weights.map(({ value }) => value);
    const [fit] = klFits(ledger.settings.semantics, d, values);
    // What a flat line explains holds no KL.
    return (
      fit !== undefined && fit.residual <= noise && Math.max(...values) - Math.min(...values) > 2 * noise
    );
  };
  const own = referenceGaps(ledger, row, targets);
  if ('unknown' in own || explains(own.d, targets)) return undefined;
  return misplacedIn(
    ledger.scored.filter((each) => each.by === 'reference' && each.step === row.step),
    row,
    targets,
    (each, columns, some) => explains(gapsTo(each, row, some, columns), some),
  );
}
