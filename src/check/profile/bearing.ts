// Which measured items bear on what was chosen: a run about masks has nothing to say of advantages.
import type { Op } from '../../protocol/message.ts';
import type { ItemName, Semantics } from '../../vocabulary.ts';
import type { Property } from '../property.ts';
import { PROBES } from './probes.ts';

/** The items that some op shows which these properties ask, or an op that does the same on its way. */
export function bearingOn(semantics: Semantics, properties: readonly Pick<Property, 'ops'>[]): Semantics {
  const asked = new Set(properties.flatMap(({ ops }) => ops.flatMap((op) => [op, ...(WITHIN[op] ?? [])])));
  const items = new Set(
    PROBES.filter(({ ops }) => ops.some((op) => asked.has(op))).flatMap((probe) => probe.items),
  );
  const kept = (Object.keys(semantics) as ItemName[]).filter((item) => items.has(item));
  return Object.fromEntries(kept.map((item) => [item, semantics[item]]));
}

/** Ops in which others are hidden: their numbers are held to the same items. */
const WITHIN: Readonly<Partial<Record<Op, readonly Op[]>>> = {
  train_step: ['loss', 'sft_loss', 'kl', 'logprobs'],
  preference_step: ['preference_loss', 'logprobs'],
  model_score: ['logprobs', 'kl'],
  score: ['logprobs', 'kl'],
  rollout: ['sampling', 'extract', 'mask'],
  trajectory: ['mask'],
};
