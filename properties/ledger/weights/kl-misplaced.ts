// A KL term whose reference scores stand elsewhere: in other rows of the batch, or a column beside their tokens. The weights
// tell: they lie on the line of an estimator for those scores, and not for the row's own.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerRow,
  type Target,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { misplacedNotices } from '../input/misplaced.ts';
import { isSampled } from '../tokens/trained.ts';
import { gapsTo, klFits, referenceGaps } from './kl-term.ts';

export function misplacedKl(ledger: Ledger): readonly LedgerNotice[] {
  return misplacedNotices(
    ledger,
    ledger.rows.filter((row) => row.reached && isSampled(row)),
    {
      isOpen: (row) => {
        const targets = measuredIn(row);
        const own = referenceGaps(ledger, row, targets);
        return !('unknown' in own) && !isOnALine(ledger, own.d, targets, CLEARLY);
      },
      targetsOf: measuredIn,
      mayBe: ({ by }) => by === 'reference',
      explains: (row, scored, columns, targets) =>
        isOnALine(ledger, gapsTo(scored, row, targets, columns), targets, 1),
      sentence: (rows, says) =>
        `The weights of ${rows} hold a KL term against other scores than those that the reference gives their tokens: ${says}. Order, pad and shift the log-probabilities of both models alike.`,
    },
  );
}

// --- helpers ---

/** Two of these a line takes; the others lie on it by no chance. */
const FEWEST = 6;
/** So many times what rounding does, and a row's own scores are not what it was weighed by. */
const CLEARLY = 4;

const measuredIn = (row: LedgerRow): readonly Target[] =>
  targetsOf(row).filter(({ trained: { weight } }) => weight !== undefined);

/** An estimator explains the weights for these gaps, to so many times their rounding; what a flat line explains holds no KL. */
function isOnALine(
  { settings }: Ledger,
  d: readonly number[],
  targets: readonly Target[],
  room: number,
): boolean {
  if (targets.length < FEWEST || d.some(Number.isNaN)) return false;
  const weights = weightsOf(targets);
  const noise = Math.max(...weights.map(({ value, relative }) => Math.abs(value) * relative));
  const values = weights.map(({ value }) => value);
  if (Math.max(...values) - Math.min(...values) <= 2 * noise) return false;
  const [fit] = klFits(settings.semantics, d, values);
  return fit !== undefined && fit.residual <= room * noise;
}
