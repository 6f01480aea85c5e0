// The supervised loss: mean negative log-likelihood of the trained tokens (torch's cross_entropy with
// ignore_index -100 on shifted logits), or that of tokens weighted by their detached probability (DFT, Wu et al. 2025,
// equation 9). No label smoothing, no z-loss, no auxiliary terms.
import { type Cube, IGNORE_INDEX, type Matrix, type Semantics } from '../../vocabulary.ts';
import { logSoftmax } from '../scores/logprobs.ts';
import { at } from '../shape.ts';
import { meanOfParts, pick, type TokenLoss } from './parts.ts';

/** Weights are dL/dlogprobs: -1/tokens on trained tokens (with DFT times their probability), 0 elsewhere. */
export type SftLoss = TokenLoss;

export type SftObjective = NonNullable<Semantics['sft_objective']>;

/** What a token's negative log-likelihood is multiplied by, without a gradient. */
export const sftFactor = (logprob: number, objective: SftObjective): number =>
  objective === 'dft' ? Math.exp(logprob) : 1;

/**
 * Labels (B, T) are token-aligned: the label at t is predicted by logits[b][t-1] of (B, T, V). The label at 0 is
 * never trained, since nothing predicts it, and does not count. Logits that predict no trained token are not
 * read (NaN there stays there); a label outside the vocabulary gives NaN. Without a trained token the loss is 0 with tokens 0: a case to report by its
 * tokens, never by its loss (bug ZL-02).
 */
export function sftLoss(logits: Cube, labels: Matrix, objective: SftObjective = 'nll'): SftLoss {
  const trained = labels.map((row) => row.map((label, t) => t > 0 && label !== IGNORE_INDEX));
  const tokens = trained.flat().filter(Boolean).length;
  const share = 1 / tokens;
  const logprobs = labels.map((row, b) =>
    row.map((label, t) => {
      if (trained[b]?.[t] !== true) return 0;
      return logSoftmax(at(at(logits, b), t - 1))[label] ?? Number.NaN;
    }),
  );
  const loss = logprobs.flat().reduce((sum, logprob) => sum - sftFactor(logprob, objective) * logprob, 0);
  return {
    loss: tokens === 0 ? 0 : loss / tokens,
    weights: trained.map((row, b) =>
      row.map((is, t) => (is ? -share * sftFactor(logprobs[b]?.[t] ?? Number.NaN, objective) : 0)),
    ),
    tokens,
  };
}

/** Mean over rows of each row's mean; a row without a trained token counts as a row (`count`) or does not (`skip`). */
export function rowMeanSftLoss(
  logits: Cube,
  labels: Matrix,
  emptyRows: 'count' | 'skip',
  objective: SftObjective = 'nll',
): SftLoss {
  const rows = labels.map((row, b) => sftLoss([at(logits, b)], [row], objective));
  const counted = emptyRows === 'count' ? rows.length : rows.filter(({ tokens }) => tokens > 0).length;
  const share = counted === 0 ? 0 : 1 / counted;
  return {
    loss: rows.reduce((sum, { loss }) => sum + share * loss, 0),
    weights: rows.map(({ weights }) => at(weights, 0).map((weight) => share * weight)),
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** What a trainer with `loss_normalization: local` arrives at: the mean of the micro-batches' own losses. */
export function localSftLoss(
  logits: Cube,
  labels: Matrix,
  microBatches: readonly (readonly number[])[],
  objective: SftObjective = 'nll',
): SftLoss {
  return meanOfParts(labels, microBatches, (rows) =>
    sftLoss(pick(logits, rows), pick(labels, rows), objective),
  );
}
