// The loss that balances experts against its formula, as the trainer declares it or as it was measured.
import {
  answersOf,
  type BalanceLoss,
  type BalanceSettings,
  type Band,
  balanceLoss,
  balanceMistakes,
  bandFrom,
  bandOf,
  causeIn,
  causeOf,
  causeWords,
  describeBalance,
  formulaOf,
  itemsOf,
  knownFormula,
  many,
  numberFinding,
  type Ok,
  type Property,
  type Routing,
  richest,
  routing,
  routingLabels,
  type Semantics,
  type Subject,
  show,
} from '../../../src/index.ts';
import { argsOf, base, coverage, termsOf } from './cases.ts';

const settingsOf = (semantics: Semantics): BalanceSettings => ({
  coef: semantics.balance_coef ?? 1,
  counts: semantics.balance_counts ?? 'token',
  scores: semantics.balance_scores ?? 'softmax',
  layers: semantics.balance_layers ?? 'together',
  scope: semantics.balance_scope ?? 'batch',
});

/** Its coefficient multiplies a number near top_k, whose rounding it makes smaller as well. */
function scaledBand(subject: Subject, terms: number, { coef }: BalanceSettings): Band {
  const { absolute, relative, reason } = bandOf(subject, terms);
  const scale = Math.min(1, Math.abs(coef));
  return bandFrom({
    absolute: absolute * scale,
    relative,
    reason: scale === 1 ? reason : `${reason}, both before the coefficient`,
  });
}

/** Numbers that do not fit. A slope is a difference of loads: it is as exact as the largest of them. */
function wrongIn(observed: Ok<'balance_loss'>, expected: BalanceLoss, experts: number, band: Band) {
  const slopes = expected.router_weights.flat(2);
  const allowed = band.allowed(Math.max(...slopes.map(Math.abs)));
  const wrong = (observed.router_weights ?? []).flatMap((row, b) =>
    row.flatMap((token, t) =>
      (expected.router_weights[b]?.[t] ?? []).flatMap((want, at) =>
        Math.abs((token[at] ?? Number.NaN) - want) <= allowed
          ? []
          : [
              {
                where: `dL/d router logit of expert ${at % experts} in layer ${Math.floor(at / experts)}, at token ${t} of row ${b},`,
                expected: want,
                observed: token[at],
              },
            ],
      ),
    ),
  );
  const loss = { where: 'the balance loss', expected: expected.loss, observed: observed.loss };
  return [...(band.close(observed.loss, expected.loss) ? [] : [loss]), ...wrong];
}

/** A known mistake that explains each number of a rich case. */
const explained = (subject: Subject, settings: BalanceSettings) =>
  causeIn(async () => {
    const rich = richest(
      routing({ minRows: 2 }).filter((drawn) =>
        Object.keys(coverage).every((label) => routingLabels(drawn).includes(label)),
      ),
    );
    if (rich === undefined) return undefined;
    const args = argsOf(rich, subject);
    const observed = await subject.ask('balance_loss', args);
    const band = scaledBand(subject, termsOf(args), settings);
    return causeOf(
      balanceMistakes(args, settings),
      (answer) => wrongIn(observed, answer, args.experts, band).length === 0,
      [balanceLoss(args, settings)],
    );
  });

export const balanceLossFormula: readonly Property<Routing>[] = [
  {
    ...base,
    id: 'balance_loss/equals-the-formula',
    title:
      'The loss that balances experts, and its gradient by the router logits, are those of experts times the sum of load and probability',
    why: 'It is small beside the loss of the tokens, and no curve shows it. Over padding, for the last layer alone or on another scale, experts starve, or the router learns to balance and nothing else.',
    catches: ['MOE-01', 'MOE-02', 'MOE-03', 'MOE-04', 'MOE-05', 'MOE-06'],
    settles: itemsOf('balance_loss'),
    needs: [formulaOf(['balance_loss']), knownFormula('balance_loss')],
    given: () => routing(),
    coverage,
    async check(subject, drawn) {
      const settings = settingsOf(subject.semantics);
      const args = argsOf(drawn, subject);
      const observed = await subject.ask('balance_loss', args);
      const band = scaledBand(subject, termsOf(args), settings);
      const wrong = wrongIn(observed, balanceLoss(args, settings), args.experts, band);
      const [first] = wrong;
      if (first === undefined) return undefined;
      const cause = await explained(subject, settings);
      return numberFinding({
        kind: cause?.words ?? (first.where === 'the balance loss' ? 'loss' : 'gradient'),
        sentence: `For ${many(drawn.rows.length, 'row')}, ${many(drawn.layers, 'layer')} and top_k ${drawn.topK} of ${drawn.experts} experts, ${first.where} is ${show(first.observed)}; ${describeBalance(settings)} gives ${show(first.expected)}.${causeWords(cause)}`,
        band,
        pairs: wrong,
        ...(cause?.proven === true ? {} : answersOf(subject, 'balance_loss', itemsOf('balance_loss'))),
      });
    },
  },
];
