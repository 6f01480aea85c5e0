import { describe, expect, it } from 'vitest';
import { describeLoss, lossVariants } from '../../../src/reference/index.ts';

const DECLARED = {
  kl_estimator: 'k3',
  kl_clamp: null,
  kl_ratio_correction: false,
  kl_placement: 'loss',
  kl_coef: 0.04,
  loss_aggregation: 'token-mean',
  clip_low: 0.2,
  clip_high: 0.28,
  ratio_level: 'token',
  policy_objective: 'clip',
} as const;

describe('lossVariants', () => {
  it('is one setting where all is declared, described in one line', () => {
    const variants = lossVariants(DECLARED);
    expect(variants.map(describeLoss)).toEqual([
      'token-mean, ratio clipped to [0.8, 1.28], plus 0.04 times KL (k3)',
    ]);
  });

  it('may descend a KL straight through, where the caller says so', () => {
    const described = lossVariants(DECLARED, { straight: true }).map(describeLoss);
    expect(described).toHaveLength(2);
    expect(described[1]).toContain('KL (k3, with the gradient of k2)');
    expect(lossVariants({ ...DECLARED, kl_estimator: 'k2' }, { straight: true })).toHaveLength(1);
    expect(lossVariants({ ...DECLARED, kl_ratio_correction: true }, { straight: true })).toHaveLength(1);
  });

  it('has no KL term when the KL is in the reward', () => {
    const variants = lossVariants({ ...DECLARED, kl_placement: 'reward' });
    expect(variants).toHaveLength(1);
    expect(variants[0]?.kl).toBeNull();
  });

  it('reads rows without tokens both ways in a mean over rows', () => {
    const variants = lossVariants({ ...DECLARED, loss_aggregation: 'seq-mean-token-mean' });
    expect(variants.map(({ emptyRows }) => emptyRows)).toEqual(['count', 'skip']);
  });

  it('needs the constant of token-sum-norm, declared or offered', () => {
    const named = { ...DECLARED, loss_aggregation: 'token-sum-norm' } as const;
    expect(lossVariants(named)).toEqual([]);
    expect(lossVariants(named, { norms: [8, 24] }).map(({ norm }) => norm)).toEqual([8, 24]);
    const declared = lossVariants({ ...named, loss_norm: 5 }, { norms: [8] });
    expect(declared.map(({ norm, normPer }) => [norm, normPer])).toEqual([
      [5, 'batch'],
      [5, 'row'],
    ]);
  });

  it('has the ratio of a token and of a sequence where the level is not declared', () => {
    const { ratio_level: _, ...silent } = DECLARED;
    expect(lossVariants(silent).map(({ ratioLevel }) => ratioLevel)).toEqual(['token', 'sequence']);
    expect(lossVariants(silent).map(describeLoss)[1]).toContain("a sequence's ratio clipped");
    expect(lossVariants({ ...DECLARED, ratio_level: 'sequence' })).toHaveLength(1);
  });

  it('knows CISPO where the objective is not declared, and the bounds that are', () => {
    const { policy_objective: _, ...silent } = DECLARED;
    const variants = lossVariants({ ...silent, dual_clip: 3, log_ratio_clamp: 20 });
    expect(variants.map(({ objective }) => objective)).toEqual(['clip', 'cispo']);
    expect(variants.every(({ dualClip, logRatioClamp }) => dualClip === 3 && logRatioClamp === 20)).toBe(
      true,
    );
    expect(variants.map(describeLoss)[1]).toContain('CISPO');
  });

  it('first takes one declared clip width for both sides, then pairs it with the known ones', () => {
    const { clip_high: _, ...oneSided } = DECLARED;
    const pairs = lossVariants({ ...oneSided, clip_low: 0.15 }).map(({ clipLow, clipHigh }) => [
      clipLow,
      clipHigh,
    ]);
    expect(pairs[0]).toEqual([0.15, 0.15]);
    expect(pairs).toContainEqual([0.15, 0.28]);
    expect(new Set(pairs.map(String)).size).toBe(pairs.length);
  });

  it('repeats no setting when nothing is declared', () => {
    const described = lossVariants({}, { norms: [12] }).map(describeLoss);
    expect(new Set(described).size).toBe(described.length);
    expect(described.length).toBeGreaterThan(1000);
  });
});
