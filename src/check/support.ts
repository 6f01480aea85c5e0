// Whether a property can be checked on a trainer at all; where not, a sentence that says what is missing.
import type { Property, World } from './property.ts';

/** How the sentence begins where the adapter does not offer an op; the ops follow. */
export const NO_OP = 'the adapter has no op ';

/** Undefined: it can. */
export function supportOf(property: Property, world: World): string | undefined {
  const missing = property.ops.filter((op) => world.hello.ops[op] === undefined);
  if (missing.length > 0) return `${NO_OP}${missing.map((op) => `\`${op}\``).join(', ')}`;
  for (const need of property.needs ?? []) {
    const lack = need(world);
    if (lack !== undefined) return lack;
  }
  return undefined;
}
