import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BalanceInput, balanceLoss, describeBalance } from '../../../src/reference/index.ts';
import { balanceInput, balanceSettings } from '../cases.ts';

const SWITCH = { coef: 1, counts: 'token', scores: 'softmax', layers: 'together', scope: 'batch' } as const;

const batch = (
  tokens: readonly (readonly number[])[],
  rest: Omit<BalanceInput, 'router_logits' | 'attention_mask' | 'micro_batches'>,
): BalanceInput => ({
  ...rest,
  router_logits: [tokens],
  attention_mask: [tokens.map(() => 1)],
  micro_batches: [[0]],
});

describe('balanceLoss', () => {
  it('is top_k for an even load, however many experts there are, and 1 with shares per choice', () => {
    for (const experts of [2, 3, 5]) {
      const tokens = Array.from({ length: experts }, (_, token) =>
        Array.from({ length: experts }, (_each, expert) => ((expert - token + experts) % experts) / 4),
      );
      for (const top_k of [1, experts - 1]) {
        const even = batch(tokens, { experts, top_k });
        expect(balanceLoss(even, SWITCH).loss).toBeCloseTo(top_k, 12);
        expect(balanceLoss(even, { ...SWITCH, counts: 'choice' }).loss).toBeCloseTo(1, 12);
      }
    }
  });

  it('is experts times f P of the one expert that every token goes to', () => {
    const one = batch([[Math.log(3), 0]], { experts: 2, top_k: 1 });
    expect(balanceLoss(one, SWITCH).loss).toBeCloseTo(1.5, 12);
    expect(balanceLoss(one, { ...SWITCH, coef: 0.01 }).loss).toBeCloseTo(0.015, 12);
    // sigmoid(log 3) is 3/4, and sigmoid(0) 1/2.
    expect(balanceLoss(one, { ...SWITCH, scores: 'sigmoid' }).loss).toBeCloseTo(1.2, 12);
  });

  it('adds layers up, takes their mean, or one product of what all of them say', () => {
    // Two layers that each send both tokens to one expert, the other one: together the load is even.
    const layers = batch(
      [
        [Math.log(3), 0, 0, Math.log(3)],
        [Math.log(3), 0, 0, Math.log(3)],
      ],
      { experts: 2, top_k: 1 },
    );
    expect(balanceLoss(layers, SWITCH).loss).toBeCloseTo(1, 12);
    expect(balanceLoss(layers, { ...SWITCH, layers: 'mean' }).loss).toBeCloseTo(1.5, 12);
    expect(balanceLoss(layers, { ...SWITCH, layers: 'sum' }).loss).toBeCloseTo(3, 12);
  });

  it('takes rows or micro-batches by themselves, and no token of padding', () => {
    const rows: BalanceInput = {
      router_logits: [
        [
          [Math.log(3), 0],
          [9, 0],
        ],
        [
          [9, 0],
          [0, Math.log(3)],
        ],
      ],
      attention_mask: [
        [1, 0],
        [0, 1],
      ],
      experts: 2,
      top_k: 1,
      micro_batches: [[0], [1]],
    };
    expect(balanceLoss(rows, SWITCH).loss).toBeCloseTo(1, 12);
    expect(balanceLoss(rows, { ...SWITCH, scope: 'sequence' }).loss).toBeCloseTo(1.5, 12);
    expect(balanceLoss(rows, { ...SWITCH, scope: 'micro-batch' }).loss).toBeCloseTo(1.5, 12);
    expect(balanceLoss(rows, SWITCH).router_weights[0]?.[1]).toEqual([0, 0]);
  });

  it('has the weights that finite differences of it have', () => {
    const step = 1e-5;
    fc.assert(
      fc.property(balanceInput, balanceSettings, (input, settings) => {
        const { router_weights: weights } = balanceLoss(input, settings);
        const at = (by: number): number =>
          balanceLoss(
            { ...input, router_logits: input.router_logits.with(0, [moved(input, by), ...rest(input)]) },
            settings,
          ).loss;
        expect(weights[0]?.[0]?.[0]).toBeCloseTo((at(step) - at(-step)) / (2 * step), 6);
      }),
    );
  });

  it('is said in words', () => {
    expect(describeBalance({ ...SWITCH, coef: 0.01 })).toBe(
      '0.01 times the balance loss (softmax, loads per token, all layers together, per batch)',
    );
    expect(describeBalance({ ...SWITCH, counts: 'first', layers: 'sum', scope: 'sequence' })).toBe(
      'the balance loss (softmax, first choices, the sum over layers, per sequence)',
    );
  });
});

/** The first token with its first logit elsewhere; no other choice follows from it. */
const moved = ({ router_logits: rows }: BalanceInput, by: number): number[] =>
  (rows[0]?.[0] ?? []).map((logit, at) => (at === 0 ? logit + by : logit));
const rest = ({ router_logits: rows }: BalanceInput) => rows[0]?.slice(1) ?? [];
