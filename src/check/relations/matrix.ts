// Ops and relations: each relation is asked of every op that it fits, unless the op says why not. No list says which are
// asked; `npm run docs` writes the table, and a test compares it with the properties.
import { AXES, type Relation } from '../../protocol/axes.ts';
import type { Op } from '../../protocol/message.ts';
import { signatureOf } from './fit.ts';
import { RULES } from './rules.ts';

export const RELATIONS = Object.keys(RULES) as readonly Relation[];

/** Why `relation` is not asked of `op`: it does not fit, or the op makes an exception. `undefined`: it is asked. */
export function unasked(
  op: Op,
  relation: Relation,
): { readonly unfit: string } | { readonly except: string } | undefined {
  const unfit = RULES[relation].unfit?.(signatureOf(op));
  if (unfit !== undefined) return { unfit };
  const except = AXES[op]?.except?.[relation];
  return except === undefined ? undefined : { except };
}

/** In the order of RULES. */
export const relationsOf = (op: Op): readonly Relation[] =>
  RELATIONS.filter((relation) => unasked(op, relation) === undefined);
