// Which variants of a KL estimate an answer of op `kl` may be.
import {
  describeKl,
  isClampByEstimator,
  type KlEstimator,
  type KlVariant,
  klVariants,
  type World,
} from '../../src/index.ts';

/**
 * The variants that an estimator asked for by name may be. One clamp, and a ratio that was measured, are those of the
 * trainer's own estimator: many bound k3, which is exponentiated, and leave k1 alone. Clamps by estimator are of each.
 */
export function variantsOf(
  { semantics, measured = {} }: World,
  estimator: KlEstimator | undefined,
): readonly KlVariant[] {
  const held = klVariants(semantics, estimator);
  if (estimator === undefined || estimator === semantics.kl_estimator) return held;
  const { kl_clamp: clamp, kl_ratio_correction: correction } = semantics;
  const others = klVariants(
    {
      ...(semantics.kl_level === undefined ? {} : { kl_level: semantics.kl_level }),
      // A declared bound is not said to be that of every estimator.
      ...(isClampByEstimator(clamp)
        ? { kl_clamp: clamp }
        : clamp === undefined || measured.kl_clamp !== undefined
          ? {}
          : { kl_clamp: null }),
      ...(correction === undefined || measured.kl_ratio_correction !== undefined
        ? {}
        : { kl_ratio_correction: correction }),
    },
    estimator,
  );
  const known = new Set(held.map(describeKl));
  return [...held, ...others.filter((variant) => !known.has(describeKl(variant)))];
}
