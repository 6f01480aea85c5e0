// The KL term in the loss, read off the weights: its slope over d = ref - logprob is beta times the aggregation's factor.
// Its sign is judged where nobody declares beta, too.
import {
  type Ledger,
  type LedgerProperty,
  type LedgerRow,
  microBatchesOf,
  show,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { isSampled } from '../tokens/trained.ts';
import {
  type Aside,
  aside,
  asides,
  type Found,
  givenOf,
  isAside,
  isFound,
  judgementOf,
  placeOf,
  rowStrip,
} from '../words.ts';
import { betaOf, fromOf, perTokenTerm, policyAggregation } from './declared.ts';
import { tokensOf } from './groups.ts';
import { misplacedKl } from './kl-misplaced.ts';
import { FEWEST_POINTS, klFits, referenceGaps } from './kl-term.ts';

/** A coefficient so far off is another one; clamps that bind at a token or two move a slope less. */
const LEAST_ROOM = 0.05;
/** Where rounding could move the slope by more than this, nothing can be said of it. */
const TELLING = 0.5;

export const klInWeights: LedgerProperty = {
  ...factsOf('kl/equals-the-estimator'),
  title:
    'The KL term that the weights of a completion hold is the declared estimator times the declared coefficient',
  level: 'should',
  needs: (ledger) => {
    if (betaOf(ledger.settings) === 0) return 'no KL term in the loss is declared';
    if (!ledger.scored.some(({ by, logprobs }) => by === 'reference' && logprobs !== undefined))
      return 'no log-probabilities of a reference were seen';
    return perTokenTerm(ledger.settings);
  },
  judge: (ledger) => {
    const said = ledger.rows.filter(isSampled).map((row) => sayOf(ledger, row));
    const wrong = said.filter((each): each is Wrong => isFound(each));
    const left = said.filter(isAside).map((each) => each.aside);
    const good = said.filter((each) => each === 'good').length;
    const sure = betaOf(ledger.settings) !== undefined || (good === 0 && isOfBothSigns(wrong));
    const found = sure ? wrong : [];
    const open = asides(wrong.length - found.length, 'no KL is declared, and other terms bend weights, too');
    return {
      ...judgementOf(good + found.length, [...left, ...open], found),
      notices: misplacedKl(ledger),
    };
  },
};

interface Wrong extends Found {
  /** Of the completion, times the aggregation's factor. */
  readonly advantage: number;
}

/**
 * Where nobody declares a KL, weights may bend with the gap for another reason: in rows that the reference itself sampled, by
 * the ratio to it. That bends good and bad completions in opposite directions; a KL bends both alike.
 */
function isOfBothSigns(wrong: readonly Wrong[]): boolean {
  return [1, -1].every((sign) => wrong.some(({ advantage }) => Math.sign(advantage) === sign));
}

function sayOf(ledger: Ledger, row: LedgerRow): 'good' | Aside | Wrong {
  const { settings, generations } = ledger;
  const { origin } = row.spans;
  const fresh =
    origin.kind === 'generation' && origin.generations.every((at) => generations[at]?.step === row.step);
  const targets = targetsOf(row).filter(({ trained: { weight } }) => weight !== undefined);
  // Several turns have one advantage, as a rule; a row into which several answers were packed has several.
  if (!fresh) return aside('the policy has stepped since the row was sampled');
  if (row.spans.completions.length !== 1) return aside('the row has several completions, or none');
  if (targets.length < FEWEST_POINTS)
    return aside(`fewer than ${FEWEST_POINTS} weights of the row are known`);
  if (targets.some(({ trained: { target } }) => target === undefined))
    return aside('no single target explains the gradient');
  const known = referenceGaps(ledger, row, targets);
  if ('unknown' in known) return aside(known.unknown);
  const weights = weightsOf(targets);
  const [fit] = klFits(
    settings.semantics,
    known.d,
    weights.map(({ value }) => value),
  );
  const noise = Math.max(...weights.map(({ value, relative }) => Math.abs(value) * relative));
  // What no estimator explains is the business of the rule about one weight a completion.
  if (fit === undefined || fit.residual > noise)
    return aside('no estimator of a KL explains the weights of the row');
  const rounding = noise * fit.slopeError;
  // Without a coefficient there is only the sign to judge.
  const factor = betaOf(settings) === undefined ? undefined : factorOf(ledger, row);
  const declared = betaOf(settings);
  const expected = (declared ?? 1) * (factor ?? 1);
  const size = factor === undefined ? Math.abs(fit.slope) : Math.abs(expected);
  if (rounding > TELLING * size) return aside('the KL term is too small to be told from rounding');
  const room = Math.max(LEAST_ROOM * size, rounding);
  const good = factor === undefined ? fit.slope * expected > 0 : Math.abs(fit.slope - expected) <= room;
  if (good) return 'good';
  const observed = factor === undefined ? Math.sign(fit.slope) * Math.abs(expected) : fit.slope / factor;
  const beta = declared ?? 0;
  return {
    advantage: fit.intercept,
    harm: Math.abs(observed - beta),
    tell: () => ({
      kind: 'kl',
      sentence: `The weights of the completion of ${placeOf(ledger, row)} hold a KL term (${fit.name}) ${factor === undefined ? 'of the wrong sign: it pushes the policy away from the reference' : `with coefficient ${show(observed)}, where ${show(beta)} is declared`}.`,
      numbers:
        factor === undefined
          ? []
          : [{ where: 'coefficient of the KL term', expected: beta, observed, allowed: room / factor }],
      strips: [
        rowStrip(
          ledger,
          row,
          targets.map(({ column }) => column),
          {
            'ref - logprob': row.ids.map((_, t) => known.d[targets.findIndex(({ column }) => column === t)]),
          },
        ),
      ],
      note: `${declared === undefined ? 'No coefficient is declared' : `Declared by ${fromOf(settings)}`}. Least squares over ${targets.length} tokens of weights on the slope of the estimator.`,
      given: givenOf(row),
    }),
  };
}

/**
 * What a token's loss is multiplied by in the whole step, where a trainer's arguments say it exactly; in the user's own
 * words an aggregation is a proportion.
 */
function factorOf(ledger: Ledger, row: LedgerRow): number | undefined {
  const declared = policyAggregation(ledger.settings);
  if (declared === undefined || ledger.settings.trainer !== 'GRPOTrainer') return undefined;
  const rows = ledger.rows.filter(({ step }) => step === row.step);
  const sum = (of: readonly LedgerRow[]): number => of.reduce((all, each) => all + tokensOf(each), 0);
  switch (declared.aggregation) {
    case 'token-mean': {
      if (!declared.local) return 1 / sum(rows);
      const own = rows.filter(({ rank, forward }) => rank === row.rank && forward === row.forward);
      return 1 / (sum(own) * microBatchesOf(rows).length);
    }
    case 'seq-mean-token-mean':
      return 1 / (tokensOf(row) * rows.length);
    case 'seq-mean-token-sum':
      return 1 / rows.length;
    case 'token-sum-norm': {
      const norm = ledger.settings.semantics.loss_norm;
      return norm === undefined ? undefined : 1 / (norm * rows.length);
    }
  }
}
