// Preference pairs by their signs: what the data set calls chosen is made likelier, what it calls rejected less likely.
import { type Ledger, type LedgerNotice, type LedgerProperty, many, targetsOf } from '../../../src/index.ts';
import {
  type Aside,
  aside,
  asides,
  type Found,
  givenOf,
  isAside,
  judgementOf,
  placeOf,
  rowStrip,
} from '../words.ts';
import { needsPairs, objectiveOf, type Pair, pairsOf, type Side } from './rows.ts';

type Said = 'good' | Aside | 'open' | 'wrong';

export const pairSigns: LedgerProperty = {
  id: 'trace/chosen-up-rejected-down',
  title: 'The chosen answer of a preference pair is made likelier, and the rejected one less likely',
  stage: 'trace',
  level: 'must',
  why: 'With the two swapped, or the sign of the loss turned, a model learns what people dislike, and loss and accuracy of the pairs look as they should.',
  catches: [],
  needs: needsPairs,
  judge: (ledger) => {
    const { pairs, alone } = pairsOf(ledger);
    const usual = turnedRound(pairs);
    const said = pairs.map((pair) => ({ pair, said: sayOf(ledger, pairs, pair, usual) }));
    const judged = said.filter(({ said: each }) => each === 'good' || each === 'wrong').length;
    const open = said.filter(({ said: each }) => each === 'open').map(({ pair }) => pair);
    const judgement = judgementOf(
      judged,
      [
        ...alone,
        ...said.flatMap(({ said: each }) => (isAside(each) ? [each.aside] : [])),
        ...asides(open.length, 'no preference objective is declared, and other losses do this, too'),
      ],
      said.filter(({ said: each }) => each === 'wrong').map(({ pair }) => foundOf(ledger, pair)),
    );
    return open.length === 0 ? judgement : { ...judgement, notices: [openNotice(ledger, open)] };
  },
};

const isTurned = ({ chosen, rejected }: Pair): boolean =>
  chosen.pushed === 'down' && rejected.pushed === 'up';

/** Most pairs of the first step are turned round: no margin is beyond its aim in the beginning. */
function turnedRound(pairs: readonly Pair[]): boolean {
  const first = Math.min(...pairs.map(({ step }) => step));
  const own = pairs.filter(({ step }) => step === first);
  return own.filter(isTurned).length > own.length / 2;
}

function sayOf(ledger: Ledger, pairs: readonly Pair[], pair: Pair, usual: boolean): Said {
  const { name, turns } = objectiveOf(ledger);
  const [up, down] = [pair.chosen.pushed, pair.rejected.pushed];
  if (up === 'up' && down === 'down') return 'good';
  // Some tokens up and some down in one answer, as other terms do; or a hinge that has nothing more to ask.
  if (up === 'both' || down === 'both') return aside('an answer is made likelier in parts');
  if (up === 'not' && down === 'not') return aside('neither answer has a gradient');
  // IPO and smoothed labels aim at a margin, and turn round beyond it.
  if (isTurned(pair))
    return usual || (name !== undefined && !turns)
      ? 'wrong'
      : aside('an objective with a target margin may turn a pair round');
  if (name !== undefined) return 'wrong';
  // Likelihood of the chosen answer beside a hinge leaves the rejected one alone now and then, not each time.
  const always = pairs.every(({ chosen, rejected }) => chosen.pushed === up && rejected.pushed === down);
  return always && pairs.length >= SEVERAL && hasReference(ledger, pair) && up !== down ? 'wrong' : 'open';
}

/** One pair may be at its margin. */
const SEVERAL = 2;

/** A reference has read both answers: they are in the loss, or were meant to be. */
const hasReference = ({ scored }: Ledger, { step }: Pair): boolean =>
  scored.some((row) => row.by === 'reference' && row.step === step);

const WORDS = {
  up: 'is made likelier',
  down: 'is made less likely',
  not: 'has no gradient',
  both: 'is made likelier in parts',
} as const satisfies Record<Side['pushed'], string>;

function causeOf(pair: Pair): string {
  if (isTurned(pair)) return 'the two are swapped, or the loss has the wrong sign';
  if (pair.rejected.pushed === 'not') return 'only the chosen one is in the loss';
  if (pair.chosen.pushed === 'not') return 'only the rejected one is in the loss';
  return pair.chosen.pushed === 'up'
    ? 'the rejected one is trained as a chosen one'
    : 'the chosen one is trained as a rejected one';
}

function foundOf(ledger: Ledger, pair: Pair): Found {
  const { chosen, rejected, example } = pair;
  return {
    harm: targetsOf(chosen.row).length + targetsOf(rejected.row).length,
    tell: () => ({
      kind: 'signs',
      sentence: `In example ${example}, the chosen answer (${placeOf(ledger, chosen.row)}) ${WORDS[chosen.pushed]} and the rejected answer (${placeOf(ledger, rejected.row)}) ${WORDS[rejected.pushed]}: ${causeOf(pair)}.`,
      strips: [chosen, rejected].map(({ row }) =>
        rowStrip(
          ledger,
          row,
          row.spans.completions.flatMap(({ from, to }) =>
            Array.from({ length: to - from }, (_, at) => from + at),
          ),
        ),
      ),
      note: 'The first strip is the chosen answer, the second the rejected one, by the names in the data set. Look at the order in which the rows of a batch are split into halves, and at the sign of the loss.',
      given: { example, chosen: givenOf(chosen.row), rejected: givenOf(rejected.row) },
    }),
  };
}

function openNotice(ledger: Ledger, open: readonly Pair[]): LedgerNotice {
  const [pair] = open;
  const said =
    pair === undefined
      ? ''
      : `the chosen answer ${WORDS[pair.chosen.pushed]} and the rejected one ${WORDS[pair.rejected.pushed]}`;
  const where = pair === undefined ? '' : placeOf(ledger, pair.chosen.row);
  return {
    sentence: `In ${many(open.length, 'pair')} of the data set (the first: ${where}) ${said}; a loss of preferences does otherwise, training on likelihood need not.`,
    answers: ['"preference_objective": "dpo"'],
  };
}
