// Other tokens in place of those of a case: what a model's answer must depend on is replaced, and the answer must change.
import { discard, ordinaryIds, type World } from '../../src/index.ts';

/** Two other ids, so that one chance coincidence (ids that the model takes for alike) is no finding. */
export const REPLACEMENTS = 2;
/** In half precision, where coarse numbers, and those that saturate, are alike more often than not. */
export const REPLACEMENTS_HALF = 16;

/** An ordinary id other than `id`; another one for each `by` of 1 and above. */
export function otherId(world: World, id: number, by: number): number {
  const { tokens } = world.hello;
  const ordinary = (tokens === undefined ? [] : ordinaryIds(tokens)).filter((candidate) => candidate !== id);
  if (ordinary.length === 0) return discard('the vocabulary has no other ordinary id', 'trainer');
  const next = ordinary.findIndex((candidate) => candidate > id);
  return ordinary[(Math.max(0, next) + by - 1) % ordinary.length] ?? id;
}
