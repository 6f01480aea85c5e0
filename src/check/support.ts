// Whether a property can be checked on a trainer at all; where not, a sentence that says what is missing.
import { onOneLine } from '../outside/text.ts';
import { formulaOf } from './needs.ts';
import { inDtypeOf } from './numbers.ts';
import type { Property, World } from './property.ts';

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
  for (const need of [...formula, ...(property.needs ?? [])]) {
    const lack = need(seen);
    if (lack !== undefined) return lack;
  }
  return undefined;
}
