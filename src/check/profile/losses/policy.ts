// Reading op `loss` for the probes: what the advantages alone put into the loss, as slopes where the trainer gives
// them and as the loss itself otherwise. The policy's part is the difference to advantages of 0, so no KL is in it.
import type { TrackRow } from '../../../generators/losses/tracks.ts';
import type { Matrix, Semantics } from '../../../vocabulary.ts';
import type { Pair } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { layTracks } from '../../rows/tracks.ts';
import { discard } from '../../subject.ts';

export interface Effect {
  readonly loss: number;
  /** dL/dlogprobs (B, T); absent where the trainer does not say. */
  readonly weights?: Matrix;
}

export async function effect(subject: Subject, rows: readonly TrackRow[], whole = true): Promise<Effect> {
  const laid = layTracks({ rows }, { whole });
  const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, advantages, micro_batches } =
    laid;
  const tracks = { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width };
  const { loss, loss_weights: weights } = await subject.ask('loss', { ...tracks, advantages, micro_batches });
  return weights === undefined ? { loss } : { loss, weights };
}

/** Then nothing of a ratio can be measured: neither its level nor its clip. */
export const hasNoRatio = ({ ratio_level }: Semantics): boolean => ratio_level === 'none';
export const NO_RATIO = 'has no effect: there is no ratio';

/** The part of the loss that the advantages of these rows make. */
export async function policyEffect(
  subject: Subject,
  rows: readonly TrackRow[],
  whole = true,
): Promise<Effect> {
  const judged = await effect(subject, rows, whole);
  const idle = await effect(
    subject,
    rows.map((row) => ({ ...row, advantage: 0 })),
    whole,
  );
  const made = judged.loss - idle.loss;
  // Advantages times log-probabilities: on policy all of them are one number, and the loss is their slopes times it.
  const loss = hasNoRatio(subject.semantics) ? made / LOGPROB : made;
  const [up, down] = [judged.weights, idle.weights];
  if (up === undefined || down === undefined) return { loss };
  return { loss, weights: up.map((row, b) => row.map((weight, t) => weight - (down[b]?.[t] ?? 0))) };
}

/** Slopes against slopes where there are any: a trainer may report another loss than the one it descends. */
export function effectPairs(observed: Effect, expected: Required<Effect>): Pair[] {
  const { weights } = observed;
  if (weights === undefined) return [{ where: 'the loss', expected: expected.loss, observed: observed.loss }];
  return expected.weights.flatMap((row, b) =>
    row.map((weight, t) => ({
      where: `the gradient of token ${t} of row ${b}`,
      expected: weight,
      observed: weights[b]?.[t],
    })),
  );
}

/** A row of one token at log-probability -1 or below, which the reference agrees with. */
export function oneToken(logRatio: number, advantage: number): TrackRow {
  const logprob = Math.min(LOGPROB, LOGPROB + logRatio);
  return {
    prompt: PROMPT,
    tokens: [{ logprob, old: logprob - logRatio, ref: logprob }],
    advantage,
    part: 0,
  };
}

/** On policy rows of these lengths. */
export function onPolicy(
  lengths: readonly number[],
  advantages: readonly number[],
  parts: readonly number[] = [],
): TrackRow[] {
  return lengths.map((length, row) => ({
    prompt: PROMPT,
    tokens: Array.from({ length }, () => ({ logprob: LOGPROB, old: LOGPROB, ref: LOGPROB })),
    advantage: advantages[row] ?? 1,
    part: parts[row] ?? 0,
  }));
}

const PROMPT = 2;
const LOGPROB = -1;

/** What one token of a batch of one weighs: 1, or 1 over the constant of token-sum-norm. Off policy nothing changes it. */
export async function unitFactor(subject: Subject): Promise<number> {
  const { loss, weights } = await policyEffect(subject, [oneToken(0, 1)]);
  const factor = weights === undefined ? -loss : -(weights[0]?.at(PROMPT) ?? Number.NaN);
  if (!(factor > 0) || !Number.isFinite(factor))
    return discard('a token with advantage 1 does not make the loss fall');
  return factor;
}

/** The slope or the loss of the one token of a batch of one. */
export function single({ loss, weights }: Effect): number {
  return weights === undefined ? loss : (weights[0]?.at(PROMPT) ?? Number.NaN);
}
