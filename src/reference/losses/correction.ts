// What a policy loss weighs a token by that an inference engine sampled from another policy than the trainer's own: the
// importance ratio exp(trainer - engine), bounded (Yao et al. 2025, TIS; Ling team 2025, IcePop; verl, rollout correction).
import type { Matrix, Semantics } from '../../vocabulary.ts';

export interface Correction {
  readonly kind: Exclude<NonNullable<Semantics['sampling_correction']>, 'own'>;
  readonly level: NonNullable<Semantics['sampling_correction_level']>;
  /** Least ratio; 0: no cap. */
  readonly low: number;
  /** Largest ratio; Infinity: no cap. */
  readonly high: number;
}

/** What is declared or was measured; undefined where it does not say enough. */
export function correctionOf(semantics: Semantics): Correction | undefined {
  const { sampling_correction: kind, sampling_correction_level: level } = semantics;
  const { sampling_correction_low: low, sampling_correction_high: high } = semantics;
  if (kind === 'none') return { kind, level: 'token', low: 0, high: Number.POSITIVE_INFINITY };
  if (kind === undefined || kind === 'own' || level === undefined || low === undefined || high === undefined)
    return undefined;
  return { kind, level, low: low ?? 0, high: high ?? Number.POSITIVE_INFINITY };
}

/** The log-ratio that decides about each token of a row, (n,) of its tokens' log-ratios trainer - engine. */
export function decisive(logRatios: readonly number[], level: Correction['level']): readonly number[] {
  if (level === 'token') return logRatios;
  const sum = logRatios.reduce((total, logRatio) => total + logRatio, 0);
  return logRatios.map(() => (level === 'sequence' ? sum : sum / logRatios.length));
}

/** The weight of each token of a row, (n,). */
export function correctionFactors(logRatios: readonly number[], correction: Correction): number[] {
  const { kind, level, low, high } = correction;
  return decisive(logRatios, level).map((logRatio) => {
    if (kind === 'none') return 1;
    const ratio = Math.exp(logRatio);
    if (kind === 'truncated') return Math.min(Math.max(ratio, low), high);
    if (ratio < low || ratio > high) return 0;
    return kind === 'masked' ? ratio : 1;
  });
}

/**
 * Tokens that are left out may also leave the denominators: of the batch, of their row, and of the rows. Each reading is a
 * factor of the tokens of a row. `factors` are ragged, one a trained token.
 */
export function denominatorsOfKept(factors: Matrix): ((row: number) => number)[] {
  const share = (values: readonly number[]): number => {
    const kept = values.filter((value) => value !== 0).length;
    return kept === 0 ? 1 : values.length / kept;
  };
  const rows = factors.filter((row) => row.length > 0);
  const ofRows = share(rows.map((row) => (row.some((value) => value !== 0) ? 1 : 0)));
  const ofBatch = share(factors.flat());
  const ofRow = (row: number): number => share(factors[row] ?? []);
  return [() => 1, () => ofBatch, ofRow, () => ofRows, (row) => ofRow(row) * ofRows];
}
