// Numbers that discover made up, for nothing said them: a function is called with 0.2 as its clip, and 0.2 is what is measured. It
// tells that a clip is there, and nothing of what the trainer trains with.
import type { ItemName, Semantics } from '../vocabulary.ts';
import type { Way } from './dialogue.ts';

/** What of a variant a parameter of such a name decides. First that matches. */
const DECIDES: readonly (readonly [RegExp, readonly ItemName[]])[] = [
  [/dual|ratio_c$/i, ['dual_clip']],
  [/(clip|range).*(value|vf)|(value|vf).*(clip|range)/i, ['value_clip']],
  [/clip|^eps.*(low|high)/i, ['clip_low', 'clip_high', 'value_clip']],
  [/smooth/i, ['preference_label_smoothing']],
  [/beta/i, ['preference_beta', 'kl_coef']],
  [/kl/i, ['kl_coef']],
  [/ent/i, ['entropy_coef']],
  [/eps/i, ['advantage_epsilon']],
];

/**
 * Whether a number was made up that no item is measured of: a weight of 0.1, a count of 1. What then does not hold may be our number's
 * doing, so it is nobody's defect.
 */
export const isGuessed = ({ invented }: Way): boolean =>
  invented.some(([name]) => !IS_CONVENTION.test(name) && !DECIDES.some(([pattern]) => pattern.test(name)));

/** Numbers that the op itself has: ids that mark what is left out, and the discounts of a return. */
const IS_CONVENTION = /ignore|pad|gamma|discount|lam/i;

/** Items of the variant that say no more than what was handed over. */
export function inventedItems({ invented }: Way, variant: Semantics): ItemName[] {
  const items = Object.keys(variant) as ItemName[];
  return items.filter((item) => {
    const value = variant[item];
    return typeof value === 'number' && invented.some((each) => decides(each, item, value));
  });
}

function decides([name, text]: Way['invented'][number], item: ItemName, value: number): boolean {
  const [, named] = DECIDES.find(([pattern]) => pattern.test(name)) ?? [];
  return named?.includes(item) === true || (value !== 0 && Number(text) === value);
}
