// Whether a property can be checked on a trainer at all; where not, a sentence that says what is missing.
import { onOneLine } from '../outside/text.ts';
import type { Op } from '../protocol/message.ts';
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

/** Ops that `loss_normalization` speaks of. */
export const SHARE_DENOMINATORS: readonly Op[] = ['loss', 'sft_loss', 'value_loss'];

/**
 * Where ranks are processes, every request has its rows dealt out to them. A loss whose denominators are those of each rank
 * depends on how, and is no number that could be expected.
 */
const denominatorsOf =
  (ops: readonly Op[]): Need =>
  ({ hello, semantics }) => {
    if (semantics.loss_normalization !== 'local') return undefined;
    const op = ops.find(
      (name) => SHARE_DENOMINATORS.includes(name) && Number(hello.ops[name]?.ranks ?? 0) > 1,
    );
    return op === undefined
      ? undefined
      : `each rank of op \`${op}\` has its own denominator (loss_normalization "local"), so that its answer depends on which rank has which rows: check it without torchrun`;
  };
