// Preference pairs by their sizes: the loss is a function of one margin, so that its slope is the same for both answers with
// the sign turned: for each token where the margin is of sums, for each row where it is of means.
import {
  commonOf,
  type Ledger,
  type LedgerProperty,
  type Rough,
  scaled,
  show,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { fromOf } from '../weights/declared.ts';
import { precisionOf } from '../weights/precision.ts';
import {
  aside,
  type Found,
  givenOf,
  judgementFrom,
  placeOf,
  rowStrip,
  type Said,
  tokenIn,
} from '../words.ts';
import { needsPairs, objectiveOf, type Pair, pairsOf, type Side } from './rows.ts';

export const pairSizes: LedgerProperty = {
  id: 'trace/pairs-weigh-alike',
  title: 'Both answers of a preference pair weigh as much, per token or per row as their objective has it',
  stage: 'trace',
  level: 'must',
  why: 'The gradient of a margin is one factor for both answers. Where they differ, lengths or other pairs are in it, and the long or the short answers are trained instead of the better ones.',
  catches: ['LOSS-13', 'PAD-08'],
  needs: (ledger) =>
    objectiveOf(ledger).name === undefined
      ? 'nothing declares the objective of the pairs: a DPOTrainer does, or --semantics \'{"preference_objective":"dpo"}\''
      : needsPairs(ledger),
  judge: (ledger) => {
    const { pairs, alone } = pairsOf(ledger);
    return judgementFrom([...alone.map(aside), ...pairs.map((pair) => sayOf(ledger, pairs, pair))]);
  },
};

/** Sums for DPO and the hinge, means for LN-DPO and SimPO, either for IPO: as papers and trainers have them. */
const PER_ROW: Readonly<Record<string, readonly boolean[]>> = {
  dpo: [false],
  dpo_norm: [true],
  hinge: [false],
  simpo: [true],
  ipo: [false, true],
};

function sayOf(ledger: Ledger, pairs: readonly Pair[], pair: Pair): Said {
  const sides = [pair.chosen, pair.rejected];
  // Signs are another rule's business.
  if (
    new Set(sides.map(({ pushed }) => pushed)).size !== 2 ||
    sides.some(({ pushed }) => pushed === 'both' || pushed === 'not')
  )
    return aside('the answers are not one made likelier and one made less likely');
  if (sides.some((side) => !isMeasured(side)))
    return aside('a target or a weight of its answers was not read');
  const ways = PER_ROW[objectiveOf(ledger).name ?? ''] ?? [];
  const uneven = sides.find((side) => commonOf(sizesOf(side, false)) === undefined);
  if (uneven !== undefined) return unevenIn(ledger, uneven);
  if (ways.some((perRow) => areAlike(sides, perRow))) return 'good';
  return apart(ledger, pairs, pair);
}

const isMeasured = ({ row }: Side): boolean =>
  targetsOf(row).every(({ trained: { target, weight } }) => target !== undefined && weight !== undefined);

function sizesOf({ row }: Side, perRow: boolean): Rough[] {
  const targets = targetsOf(row);
  return weightsOf(targets).map(({ value, relative }) =>
    scaled({ value: Math.abs(value), relative }, perRow ? targets.length : 1),
  );
}

const areAlike = (sides: readonly Side[], perRow: boolean): boolean =>
  commonOf(sides.flatMap((side) => sizesOf(side, perRow))) !== undefined;

const sizeOf = (side: Side): number => commonOf(sizesOf(side, false)) ?? Number.NaN;

function unevenIn(ledger: Ledger, { row }: Side): Found {
  const targets = targetsOf(row);
  const weights = targets.map(({ column, trained: { weight = 0 } }) => ({
    column,
    weight: Math.abs(weight),
  }));
  const heavy = weights.toSorted((a, b) => b.weight - a.weight);
  const [most, least] = [heavy[0], heavy.at(-1)];
  return {
    harm: targets.length,
    tell: () => ({
      kind: 'uneven',
      sentence: `${tokenIn(ledger, row, most?.column ?? 0)} weighs ${show(most?.weight)} in ${placeOf(ledger, row)} and ${tokenIn(ledger, row, least?.column ?? 0)} ${show(least?.weight)}: all tokens of an answer have the one weight of its pair (${objectiveOf(ledger).name}).`,
      strips: [
        rowStrip(
          ledger,
          row,
          targets.map(({ column }) => column),
        ),
      ],
      note: `${precisionOf(row.dtype)} Declared by ${fromOf(ledger.settings)}.`,
      given: givenOf(row),
    }),
  };
}

function apart(ledger: Ledger, pairs: readonly Pair[], pair: Pair): Found {
  const { chosen, rejected, example, step } = pair;
  const [up, down] = [sizeOf(chosen), sizeOf(rejected)];
  const { name = '' } = objectiveOf(ledger);
  const lengths = [chosen, rejected].map(({ row }) => targetsOf(row).length);
  const other = pairs.find(
    (each) => each.step === step && each.example !== example && areAlike([chosen, each.rejected], false),
  );
  const perRow = areAlike([chosen, rejected], true);
  const why = perRow
    ? `they are means over the ${lengths[0]} and ${lengths[1]} tokens of the answers, and the margin of ${name} is of sums`
    : areAlike([chosen, rejected], false)
      ? `they are those of sums, and the margin of ${name} is of means`
      : other === undefined
        ? 'no one margin has both of these slopes'
        : `the chosen answer weighs what the rejected answer of example ${other.example} does`;
  return {
    harm: Math.abs(Math.log(up / down)),
    tell: () => ({
      kind: 'sizes',
      sentence: `In example ${example}, each token of the chosen answer (${placeOf(ledger, chosen.row)}) weighs ${show(up)} and each of the rejected answer (${placeOf(ledger, rejected.row)}) ${show(-down)}: ${why}.`,
      strips: [chosen, rejected].map(({ row }) =>
        rowStrip(
          ledger,
          row,
          targetsOf(row).map(({ column }) => column),
        ),
      ),
      note: `${precisionOf(chosen.row.dtype)} Declared by ${fromOf(ledger.settings)}.`,
      given: { example, chosen: givenOf(chosen.row), rejected: givenOf(rejected.row) },
    }),
  };
}
