// A completion's one weight, the advantage times its share, once the KL term is taken off; undefined where it cannot be
// told from that term: what a KL adds to every token alike looks like an advantage.
import { commonOf, klTerm, type Ledger, type LedgerRow, type Target, weightsOf } from '../../../src/index.ts';
import { betaOf } from './declared.ts';
import { FEWEST_POINTS, isNoGap, klFits, referenceGaps } from './kl-term.ts';

export interface Advantage {
  readonly weight: number;
  /** What `weight` may be off by, as a share of it. */
  readonly relative: number;
}

/** @param all targets of the row; of those whose weight could not be read, the others tell. */
export function withoutKl(ledger: Ledger, row: LedgerRow, all: readonly Target[]): Advantage | undefined {
  const targets = all.filter(({ trained: { weight } }) => weight !== undefined);
  const { settings, scored } = ledger;
  const weights = weightsOf(targets);
  const common = commonOf(weights);
  const plain =
    common === undefined
      ? undefined
      : { weight: common, relative: Math.min(...weights.map(({ relative }) => relative), 1) };
  const beta = betaOf(settings) ?? Number(scored.some(({ by }) => by === 'reference'));
  if (beta === 0) return plain;
  const { kl_estimator: estimator, kl_level: level } = settings.semantics;
  const bends = estimator === 'k2' || estimator === 'k3';
  // A term that bends with the gap of each token leaves its tokens one weight only where it is nothing.
  if (bends && level === 'token' && plain !== undefined && targets.length >= FEWEST_POINTS) return plain;
  const known = referenceGaps(ledger, row, targets);
  if ('unknown' in known) return undefined;
  // Where policy and reference agree k2 and k3 have no slope; k1 has one everywhere.
  if (known.d.every(isNoGap)) return bends ? plain : undefined;
  // Not token by token: a KL of the whole completion is in all weights alike.
  if (plain !== undefined || targets.length < FEWEST_POINTS) return undefined;
  const values = weights.map(({ value }) => value);
  const noise = Math.max(...weights.map(({ value, relative }) => Math.abs(value) * relative));
  const [fit] = klFits(settings.semantics, known.d, values).filter(
    ({ variant }) => klTerm(0, 0, 0, variant).slope === 0,
  );
  if (fit === undefined || fit.residual > noise) return undefined;
  const reach = Math.max(...known.d.map((gap) => Math.abs(klTerm(0, gap, 0, fit.variant).slope)));
  const off = noise * (1 + fit.slopeError * reach);
  return { weight: fit.intercept, relative: off / Math.abs(fit.intercept) };
}
