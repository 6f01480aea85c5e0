// Whether a property can be checked on a trainer at all; where not, a sentence that says what is missing.
import { onOneLine } from '../outside/text.ts';
import type { Op } from '../protocol/message.ts';
import type { ItemName } from '../vocabulary.ts';
import { formulaOf } from './needs.ts';
import { inDtypeOf } from './numbers.ts';
import type { Need, Property, World } from './property.ts';

/** How the sentence begins where the adapter does not offer an op; the ops follow. */
export const NO_OP = 'the adapter has no op ';

/** Of the trainer's own words. */
const MOST_WHY = 300;

/** Undefined: it can. */
export function supportOf(property: Property, world: World): string | undefined {
  const missing = property.ops.filter((op) => world.hello.ops[op] === undefined);
  const lacking = missing.find((op) => world.hello.lacks?.[op] !== undefined);
  if (lacking !== undefined)
    return `op \`${lacking}\` cannot be asked: ${onOneLine(world.hello.lacks?.[lacking] ?? '', MOST_WHY)}`;
  if (missing.length > 0) return `${NO_OP}${missing.map((op) => `\`${op}\``).join(', ')}`;
  const seen = inDtypeOf(world, property.ops);
  const formula = property.settles === undefined ? [] : [formulaOf(property.ops)];
  for (const need of [denominatorsOf(property.ops), ...formula, ...(property.needs ?? [])]) {
    const lack = need(seen);
    if (lack !== undefined) return lack;
  }
  return undefined;
}

/** Ops that `loss_normalization` speaks of, and the item that says what each divides by; the first one offered is measured. */
export const AGGREGATION_OF = {
  loss: 'loss_aggregation',
  sft_loss: 'sft_aggregation',
  value_loss: 'value_aggregation',
} as const satisfies Partial<Record<Op, ItemName>>;
export const SHARE_DENOMINATORS = Object.keys(AGGREGATION_OF) as readonly (keyof typeof AGGREGATION_OF)[];

/**
 * Every micro-batch has a denominator of its own, and that is no bug. A declared aggregation is that of the batch: a mean of
 * micro-batch means under its name is the bug, however it was measured, and a trainer that means it declares "local".
 */
export function meansLocal(op: Op, { semantics, measured = {} }: World): boolean {
  if (semantics.loss_normalization !== 'local') return false;
  const own = SHARE_DENOMINATORS.find((name) => name === op);
  if (own === undefined || measured.loss_normalization === undefined) return own !== undefined;
  const aggregation = AGGREGATION_OF[own];
  return semantics[aggregation] === undefined || measured[aggregation] !== undefined;
}

/**
 * Where ranks are processes, every request has its rows dealt out to them. A loss whose denominators are those of each rank
 * depends on how, and is no number that could be expected.
 */
const denominatorsOf =
  (ops: readonly Op[]): Need =>
  (world) => {
    const op = ops.find((name) => Number(world.hello.ops[name]?.ranks ?? 0) > 1 && meansLocal(name, world));
    return op === undefined
      ? undefined
      : `each rank of op \`${op}\` has its own denominator (loss_normalization "local"), so that its answer depends on which rank has which rows: check it without torchrun`;
  };
