// One weight a completion: in a group-relative method every token of an answer has the answer's advantage, once the KL term
// is taken off.
import {
  commonOf,
  isOpen,
  type Ledger,
  type LedgerProperty,
  type LedgerRow,
  loosened,
  many,
  medianOf,
  realIds,
  sameIds,
  show,
  type Target,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { isSampled } from '../tokens/trained.ts';
import {
  aside,
  type Found,
  givenOf,
  judgementFrom,
  placeOf,
  rowStrip,
  type Said as SaidOf,
  tokenIn,
} from '../words.ts';
import { betaOf, groupRelative, perTokenTerm } from './declared.ts';
import { FEWEST_POINTS, klFits, referenceGaps } from './kl-term.ts';
import { precisionOf } from './precision.ts';

type Said = SaidOf | typeof WITHOUT_KL;

/** Nothing is said against it, once that is taken off. */
const WITHOUT_KL = 'without its KL term';

export const oneWeight: LedgerProperty = {
  id: 'trace/one-weight-a-completion',
  title:
    'In a group-relative method, all tokens of a completion have one weight, once the KL term is taken off',
  stage: 'trace',
  level: 'must',
  why: 'An advantage that is spread along the wrong axis, or scaled token by token, rewards tokens for where they stand.',
  catches: ['ADV-08', 'ADV-09', 'PPO-05'],
  needs: ({ settings }) =>
    groupRelative(settings) === undefined
      ? 'nothing says that every completion has one advantage: that needs a GRPOTrainer or RLOOTrainer, or --semantics \'{"advantage_baseline":"group-mean"}\''
      : perTokenTerm(settings),
  judge: (ledger) => {
    const said = ledger.rows
      .filter(isSampled)
      .flatMap((row) => row.spans.completions.map((span) => sayOf(ledger, row, span)));
    const taken = said.filter((each) => each === WITHOUT_KL).length;
    return judgementFrom(said, { 'KL term taken off': taken });
  },
};

function sayOf(ledger: Ledger, row: LedgerRow, span: { readonly from: number; readonly to: number }): Said {
  const all = targetsOf(row).filter(({ column }) => column >= span.from && column < span.to);
  const open = aside('no single target explains the gradient');
  if (all.some(({ trained }) => isOpen(trained))) return open;
  const targets = all.filter(({ trained: { weight } }) => weight !== undefined);
  // A term over the whole vocabulary fits no single target, and its weights say nothing.
  if (targets.length < 2) return aside('fewer than 2 weights of the completion are known');
  if (targets.some(({ trained: { target } }) => target === undefined)) return open;
  const weights = weightsOf(targets);
  if (commonOf(weights) !== undefined) return 'good';
  const noise = ratioNoise(ledger, row, targets);
  if (noise === undefined) return aside('the weights of the completion hold ratios of unknown size');
  if (commonOf(loosened(weights, noise)) !== undefined) return 'good';
  const beta = betaOf(ledger.settings);
  if (beta !== 0) {
    const known = referenceGaps(ledger, row, targets);
    if ('unknown' in known) {
      if (beta !== undefined || ledger.scored.some(({ by }) => by === 'reference'))
        return aside(known.unknown);
    } else if (known.d.some((gap) => gap !== known.d[0])) {
      if (targets.length < FEWEST_POINTS)
        return aside(`fewer than ${FEWEST_POINTS} weights of the completion are known`);
      const values = weights.map(({ value }) => value);
      const [fit] = klFits(ledger.settings.semantics, known.d, values);
      const room = Math.max(...weights.map(({ value, relative }) => Math.abs(value) * (relative + noise)));
      if (fit !== undefined && fit.residual <= room) return WITHOUT_KL;
    }
  }
  return uneven(ledger, row, targets);
}

/**
 * How far ratios of old and new log-probabilities are from 1 in a row that the policy has just sampled, as a share of a
 * weight; 0 where no old ones were scored, undefined where they are not known or the policy has stepped since.
 */
function ratioNoise(ledger: Ledger, row: LedgerRow, targets: readonly Target[]): number | undefined {
  const { origin } = row.spans;
  const of = origin.kind === 'generation' ? origin.generations : [];
  if (of.some((at) => ledger.generations[at]?.step !== row.step)) return undefined;
  const ids = realIds(row);
  const old = ledger.scored.find(
    (each) => each.by === 'policy' && each.step === row.step && sameIds(realIds(each), ids),
  );
  if (old === undefined) return 0;
  const shift = old.real.indexOf(true) - row.real.indexOf(true);
  const gaps = targets.map(({ column, trained: { temperature = 1 } }) =>
    Math.abs(
      ((old.logprobs?.[column + shift] ?? Number.NaN) - (row.logprobs?.[column] ?? Number.NaN)) / temperature,
    ),
  );
  return gaps.some(Number.isNaN) ? undefined : Math.max(...gaps);
}

function uneven(ledger: Ledger, row: LedgerRow, targets: readonly Target[]): Found {
  const usual = medianOf(weightsOf(targets).map(({ value }) => value));
  const numbers = targets
    .map(({ column, trained: { weight = Number.NaN }, relative }) => ({
      column,
      where: `weight of token ${column}`,
      expected: usual,
      observed: weight,
      allowed: relative * Math.abs(usual),
    }))
    .filter(({ observed, allowed }) => Math.abs(observed - usual) > allowed)
    .sort((a, b) => Math.abs(b.observed - usual) - Math.abs(a.observed - usual));
  const [worst] = numbers;
  return {
    harm: numbers.length,
    tell: () => ({
      kind: 'weights',
      sentence: `${tokenIn(ledger, row, worst?.column ?? 0)} weighs ${show(worst?.observed)} in ${placeOf(ledger, row)}, where most of the ${many(targets.length, 'token')} of its completion weigh ${show(usual)}; a completion has one advantage (${groupRelative(ledger.settings)}), so its tokens have one weight.`,
      numbers: numbers.map(({ column: _, ...rest }) => rest),
      strips: [
        rowStrip(
          ledger,
          row,
          numbers.map(({ column }) => column),
        ),
      ],
      note: `${precisionOf(row.dtype)} Expected is the median of the completion; no KL estimator that is allowed explains the difference.`,
      given: givenOf(row),
    }),
  };
}
