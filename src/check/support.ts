// Whether a property can be checked on a trainer at all; where not, a sentence that says what is missing.
import type { Property, World } from './property.ts';

/** Undefined: it can. */
export function supportOf(property: Property, world: World): string | undefined {
  const missing = property.ops.filter((op) => world.hello.ops[op] === undefined);
  if (missing.length > 0) return `the adapter has no op ${missing.map((op) => `\`${op}\``).join(', ')}`;
  for (const need of property.needs ?? []) {
    const lack = need(world);
    if (lack !== undefined) return lack;
  }
  return undefined;
}
