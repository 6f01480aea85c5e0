// What the properties of the loss that balances experts share.
import {
  type Args,
  type Need,
  type Routing,
  routedBatch,
  routingLabels,
  type World,
} from '../../../src/index.ts';

export const base = {
  stage: 'balance_loss',
  level: 'must',
  ops: ['balance_loss'],
  labels: routingLabels,
} as const;
export const coverage = { 'unequal rows': 0.3, 'several layers': 0.3, 'several choices': 0.3 };

/** In micro-batches where the trainer takes some. */
export function argsOf(drawn: Routing, { hello }: Pick<World, 'hello'>): Args<'balance_loss'> {
  const args = routedBatch(drawn);
  return hello.ops.balance_loss?.micro_batches === true
    ? args
    : { ...args, micro_batches: [drawn.rows.map((_, row) => row)] };
}

/** Tokens of all layers: the longest sum. */
export const termsOf = ({ router_logits: rows, experts }: Args<'balance_loss'>): number =>
  rows.flat(2).length / experts;

/** Loads are those of the whole batch, or of rows, of which each micro-batch has as many. */
export const ofWholeBatch: Need = ({ semantics: { balance_scope: scope } }) =>
  scope === 'batch' || scope === 'sequence'
    ? undefined
    : `semantics.balance_scope is ${scope === undefined ? 'not declared' : `"${scope}"`}`;
