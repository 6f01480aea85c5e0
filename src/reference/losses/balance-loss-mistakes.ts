// Balance losses that nobody means: padding that counts as tokens, layers or choices that do not, and the wrong scale.
import type { Mistake } from '../mistake.ts';
import { at } from '../shape.ts';
import { type BalanceInput, type BalanceLoss, type BalanceSettings, balanceLoss } from './balance-loss.ts';

/** What experts were seen to be balanced with instead. */
export function balanceMistakes(input: BalanceInput, settings: BalanceSettings): Mistake<BalanceLoss>[] {
  const of = (changed: Partial<BalanceInput>, other: Partial<BalanceSettings> = {}): BalanceLoss =>
    balanceLoss({ ...input, ...changed }, { ...settings, ...other });
  const right = of({});
  const { experts, router_logits: logits, attention_mask: mask } = input;
  const { coef } = settings;
  const lastLayer = logits.map((row) => row.map((each) => each.slice(-experts)));
  const last = of({ router_logits: lastLayer });
  const legal = true as const;
  return [
    {
      bug: 'MOE-01',
      words: 'tokens of padding are counted',
      answer: of({ attention_mask: mask.map((row) => row.map(() => 1)) }),
    },
    { bug: 'MOE-02', words: 'it is 0', answer: of({}, { coef: 0 }) },
    {
      bug: 'MOE-02',
      words: 'nothing has a gradient: loads are constants, and so are the probabilities',
      answer: { ...right, router_weights: logits.map((row) => row.map((each) => each.map(() => 0))) },
    },
    ...(coef === 1
      ? []
      : [
          { bug: 'MOE-03', words: 'the coefficient is applied twice', answer: of({}, { coef: coef ** 2 }) },
          { bug: 'MOE-03', words: 'the coefficient is not applied', answer: of({}, { coef: 1 }) },
        ]),
    {
      bug: 'MOE-03',
      words: 'it is not multiplied by the number of experts',
      answer: of({}, { coef: coef / experts }),
    },
    {
      bug: 'MOE-04',
      words: 'the last layer alone is balanced',
      answer: {
        ...last,
        router_weights: last.router_weights.map((row, b) =>
          row.map((slopes, t) => [
            ...at(at(logits, b), t)
              .slice(experts)
              .map(() => 0),
            ...slopes,
          ]),
        ),
      },
    },
    {
      bug: 'MOE-04',
      words: 'the first choice of each token alone is counted',
      answer: of({}, { counts: 'first' }),
      legal,
    },
    {
      bug: 'MOE-05',
      words: 'loads are those of micro-batches, not of the batch',
      answer: of({}, { scope: 'micro-batch' }),
      legal,
    },
  ];
}
