// The supervised loss: mean negative log-likelihood of the trained tokens (torch's cross_entropy with
// ignore_index -100 on shifted logits). No label smoothing, no z-loss, no auxiliary terms.
import { type Cube, IGNORE_INDEX, type Matrix } from '../../vocabulary.ts';
import { logSoftmax } from '../scores/logprobs.ts';
import { at } from '../shape.ts';
import { meanOfParts, pick, type TokenLoss } from './parts.ts';

/** Weights are dL/dlogprobs: -1/tokens on trained tokens, 0 elsewhere. */
export type SftLoss = TokenLoss;

/**
 * Labels (B, T) are token-aligned: the label at t is predicted by logits[b][t-1] of (B, T, V). The label at 0 is
 * never trained, since nothing predicts it, and does not count. Logits that predict no trained token are not
 * read (NaN there stays there); a label outside the vocabulary gives NaN. Without a trained token the loss is 0 with tokens 0: a case to report by its
 * tokens, never by its loss (bug ZL-02).
 */
export function sftLoss(logits: Cube, labels: Matrix): SftLoss {
  const trained = labels.map((row) => row.map((label, t) => t > 0 && label !== IGNORE_INDEX));
  const tokens = trained.flat().filter(Boolean).length;
  const share = 1 / tokens;
  const logprobs = labels.map((row, b) =>
    row.map((label, t) => {
      if (trained[b]?.[t] !== true) return 0;
      return logSoftmax(at(at(logits, b), t - 1))[label] ?? Number.NaN;
    }),
  );
  const loss = logprobs.flat().reduce((sum, logprob) => sum - logprob, 0);
  return {
    loss: tokens === 0 ? 0 : loss / tokens,
    weights: trained.map((row) => row.map((is) => (is ? -share : 0))),
    tokens,
  };
}

/** Mean over rows of each row's mean; a row without a trained token counts as a row (`count`) or does not (`skip`). */
export function rowMeanSftLoss(logits: Cube, labels: Matrix, emptyRows: 'count' | 'skip'): SftLoss {
  const rows = labels.map((row, b) => sftLoss([at(logits, b)], [row]));
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
): SftLoss {
  return meanOfParts(labels, microBatches, (rows) => sftLoss(pick(logits, rows), pick(labels, rows)));
}
