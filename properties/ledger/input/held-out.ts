// Rows that a model is evaluated on, beside those that it is trained on.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  many,
  realIds,
  type ScoredRow,
} from '../../../src/index.ts';
import { asides, judgementOf, placeOf } from '../words.ts';
import { keyOf } from './kin.ts';

export const heldOut: LedgerProperty = {
  id: 'loader/evaluated-rows-are-not-trained',
  title: 'Rows that the model is evaluated on are not among those that it is trained on',
  stage: 'trace',
  level: 'should',
  why: 'The loss of rows that are trained falls whatever the model learns of others: over-fitting is not seen, and the last checkpoint is always the best.',
  catches: [],
  needs: (ledger) =>
    evaluatedIn(ledger).size > 0
      ? undefined
      : 'no row was evaluated: a forward pass in evaluation mode, without gradients, that is given labels',
  judge: (ledger) => {
    const evaluated = evaluatedIn(ledger);
    const trained = new Map(
      ledger.rows.filter(({ reached }) => reached).map((row) => [keyOf(realIds(row)), row] as const),
    );
    const both = [...evaluated].flatMap(([key, row]) => {
      const twin = trained.get(key);
      return twin === undefined ? [] : [{ row, twin }];
    });
    const [first] = both;
    const meant = asides(both.length, 'the row is trained, too, and may be evaluated on purpose');
    const judgement = judgementOf(evaluated.size - both.length, meant, []);
    if (first === undefined) return judgement;
    const all = both.length === evaluated.size;
    const notice: LedgerNotice = {
      sentence: `${all ? (both.length === 1 ? 'The row that is evaluated is' : `All ${both.length} rows that are evaluated are`) : `${both.length} of ${many(evaluated.size, 'row')} that are evaluated ${both.length === 1 ? 'is' : 'are'}`} trained as well: ${placeOf(ledger, first.row)} is ${placeOf(ledger, first.twin)}. Right where the loss of training rows is measured on purpose.`,
      answers: [],
      // Some scripts evaluate a part of their training rows beside others, and data sets hold some rows twice.
      ...(all ? {} : { remark: true }),
    };
    return { ...judgement, notices: [notice] };
  },
};

/** Each once, by its ids. Samples, references and rows that are scored for a loss come without labels. */
function evaluatedIn({ scored }: Ledger): ReadonlyMap<string, ScoredRow> {
  const rows = scored.filter(
    ({ by, labelled, training }) => by === 'policy' && labelled === true && training === false,
  );
  return new Map(
    rows.flatMap((row) => {
      const ids = realIds(row);
      return ids.length < LEAST ? [] : [[keyOf(ids), row] as const];
    }),
  );
}
/** Shorter rows are equal by chance. */
const LEAST = 8;
