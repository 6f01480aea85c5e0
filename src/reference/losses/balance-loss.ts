// The auxiliary loss that spreads tokens over the experts of a mixture: experts times the sum over experts of f P, with f the share
// of tokens that go to an expert, a constant, and P its mean probability (Lepikhin et al. 2020, "GShard", equation 3; Fedus et al.
// 2021, "Switch Transformers", equations 4 to 6). Trainers differ in what f is a share of and over what both are taken.
import type { Cube, Matrix, Ragged, Semantics } from '../../vocabulary.ts';
import { at } from '../shape.ts';

type Chosen<Name extends keyof Semantics> = Exclude<Semantics[Name], undefined>;

export interface BalanceInput {
  /** (B, T, layers x experts), of each token layer by layer. */
  readonly router_logits: Cube;
  readonly attention_mask: Matrix;
  readonly experts: number;
  readonly top_k: number;
  readonly micro_batches: Ragged;
}

export interface BalanceSettings {
  readonly coef: number;
  readonly counts: Chosen<'balance_counts'>;
  readonly scores: Chosen<'balance_scores'>;
  readonly layers: Chosen<'balance_layers'>;
  readonly scope: Chosen<'balance_scope'>;
}

export interface BalanceLoss {
  readonly loss: number;
  /** dloss/dlogit, (B, T, layers x experts). */
  readonly router_weights: Cube;
}

/** One token in one layer. */
interface Routed {
  /** Of its logits in the answer. */
  readonly slopes: number[];
  /** Where its layer begins in them. */
  readonly from: number;
  readonly probabilities: readonly number[];
  /** Derivative of a score by its logit, over the sum of all scores. */
  readonly steps: readonly number[];
  readonly chosen: readonly number[];
}

/** Of parts (the batch, its micro-batches or rows) and of layers that each have a loss of their own. */
export function balanceLoss(input: BalanceInput, settings: BalanceSettings): BalanceLoss {
  const { experts, top_k: most } = input;
  const slopes = input.router_logits.map((row) => row.map((logits) => logits.map(() => 0)));
  const layers = Math.round((input.router_logits[0]?.[0]?.length ?? 0) / experts);
  const parts = partsOf(input, settings.scope);
  const shared = settings.layers === 'together';
  const weight = settings.coef / parts.length / (settings.layers === 'mean' ? layers : 1);
  let loss = 0;
  for (const rows of parts) {
    const byLayer = Array.from({ length: layers }, (_, layer) =>
      rows.flatMap((row) =>
        at(input.router_logits, row).flatMap((logits, column): Routed[] =>
          input.attention_mask[row]?.[column] === 1
            ? [
                routed(logits.slice(layer * experts, (layer + 1) * experts), settings.scores, most, {
                  slopes: at(at(slopes, row), column),
                  from: layer * experts,
                }),
              ]
            : [],
        ),
      ),
    );
    for (const tokens of shared ? [byLayer.flat()] : byLayer)
      loss += ofTokens(tokens, experts, most, settings.counts, weight);
  }
  return { loss, router_weights: slopes };
}

function partsOf(
  { router_logits: rows, micro_batches: parts }: BalanceInput,
  scope: Chosen<'balance_scope'>,
) {
  const all = rows.map((_, row) => row);
  if (scope === 'micro-batch') return parts;
  return scope === 'batch' ? [all] : all.map((row) => [row]);
}

function routed(
  logits: readonly number[],
  scores: Chosen<'balance_scores'>,
  most: number,
  where: Pick<Routed, 'slopes' | 'from'>,
): Routed {
  const highest = Math.max(...logits);
  const values = logits.map((logit) =>
    scores === 'softmax' ? Math.exp(logit - highest) : 1 / (1 + Math.exp(-logit)),
  );
  const total = values.reduce((sum, value) => sum + value, 0);
  return {
    ...where,
    probabilities: values.map((value) => value / total),
    steps: values.map((value) => (scores === 'softmax' ? value : value * (1 - value)) / total),
    // Sorting keeps the order of equal ones.
    chosen: logits
      .map((_, expert) => expert)
      .sort((a, b) => at(logits, b) - at(logits, a))
      .slice(0, most),
  };
}

/** Adds the slopes of its logits to the answer. */
function ofTokens(
  tokens: readonly Routed[],
  experts: number,
  most: number,
  counts: Chosen<'balance_counts'>,
  weight: number,
): number {
  const [load, probability] = [Array<number>(experts).fill(0), Array<number>(experts).fill(0)];
  for (const { chosen, probabilities } of tokens) {
    for (const expert of counts === 'first' ? chosen.slice(0, 1) : chosen)
      load[expert] = at(load, expert) + 1 / tokens.length / (counts === 'choice' ? most : 1);
    for (const [expert, value] of probabilities.entries())
      probability[expert] = at(probability, expert) + value / tokens.length;
  }
  const scale = (weight * experts) / tokens.length;
  for (const { probabilities, steps, slopes, from } of tokens) {
    const met = dot(load, probabilities);
    for (const [expert, step] of steps.entries())
      slopes[from + expert] = scale * step * (at(load, expert) - met);
  }
  return weight * experts * dot(load, probability);
}

const dot = (left: readonly number[], right: readonly number[]): number =>
  left.reduce((sum, value, index) => sum + value * at(right, index), 0);

/** "0.01 times the balance loss (softmax, loads per token, all layers together, per batch)". */
export function describeBalance({ coef, counts, scores, layers, scope }: BalanceSettings): string {
  const times = coef === 1 ? '' : `${Number(coef.toPrecision(6))} times `;
  const load = counts === 'first' ? 'first choices' : `loads per ${counts}`;
  const over = layers === 'together' ? 'all layers together' : `the ${layers} over layers`;
  return `${times}the balance loss (${scores}, ${load}, ${over}, per ${scope})`;
}
