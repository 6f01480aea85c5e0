// What a model says of completions: each row alone, without padding, so that no batch can matter.
import type { Ids, Ragged } from '../../vocabulary.ts';
import { headOf, hiddenStates } from './forward.ts';
import { linear } from './layers.ts';
import type { ReferenceModel } from './weights.ts';

export interface CompletionScores {
  /** log p of each completion token, in nats, (C,). */
  readonly logprobs: readonly number[];
  /** Entropy of the distribution that predicts it. */
  readonly entropy: readonly number[];
}

/** One row; `temperature` divides the logits. Without a token before it, a token has no log-probability: NaN. */
export function completionScores(
  model: ReferenceModel,
  prompt: Ids,
  completion: Ids,
  temperature: number,
): CompletionScores {
  const rows = predictions(model, prompt, completion, temperature);
  return {
    logprobs: rows.map((row, at) => row?.[completion[at] ?? -1] ?? Number.NaN),
    entropy: rows.map((row) =>
      row === undefined ? Number.NaN : -row.reduce((sum, log) => sum + Math.exp(log) * log, 0),
    ),
  };
}

export interface ExactKl {
  /** KL(policy || reference) = Σ p (log p - log p') over the whole vocabulary, in nats. */
  readonly kl: number;
  /** Σ p |log p - log p' - KL|: how much it moves at most where every log-probability of the policy moves by one. */
  readonly spread: number;
}

/** Exact KL at each completion token, (C,). */
export function completionKl(
  policy: ReferenceModel,
  reference: ReferenceModel,
  prompt: Ids,
  completion: Ids,
  temperature: number,
): ExactKl[] {
  const [ours, theirs] = [policy, reference].map((model) =>
    predictions(model, prompt, completion, temperature),
  );
  return completion.map((_, at) => {
    const [p, q] = [ours?.[at], theirs?.[at]];
    if (p === undefined || q === undefined) return { kl: Number.NaN, spread: 0 };
    const mean = (of: (ratio: number) => number): number =>
      p.reduce((sum, log, id) => sum + Math.exp(log) * of(log - (q[id] as number)), 0);
    const kl = mean((ratio) => ratio);
    return { kl, spread: mean((ratio) => Math.abs(ratio - kl)) };
  });
}

/** The log-probabilities alone, of all rows, (B, C); a tenth of the work at a large vocabulary. */
export function completionLogprobs(
  model: ReferenceModel,
  prompts: Ragged,
  completions: Ragged,
  temperature: number,
): number[][] {
  return prompts.map((prompt, b) => {
    const completion = completions[b] ?? [];
    const rows = logitsBefore(model, prompt, completion);
    return completion.map((id, at) => {
      const row = rows[at];
      return row === undefined
        ? Number.NaN
        : (row[id] ?? Number.NaN) / temperature - logSumExp(row, temperature);
    });
  });
}

// --- helpers ---

/** Log-softmax over the vocabulary before each completion token. */
function predictions(
  model: ReferenceModel,
  prompt: Ids,
  completion: Ids,
  temperature: number,
): (Float64Array | undefined)[] {
  return logitsBefore(model, prompt, completion).map((row) => {
    if (row === undefined) return undefined;
    const total = logSumExp(row, temperature);
    return row.map((logit) => logit / temperature - total);
  });
}

/** Undefined where there is no token before it. */
function logitsBefore(model: ReferenceModel, prompt: Ids, completion: Ids): (Float64Array | undefined)[] {
  const states = hiddenStates(model, { ids: [...prompt, ...completion] });
  // The head is most of the work: only where something is asked.
  const read = states.slice(Math.max(prompt.length - 1, 0), prompt.length + completion.length - 1);
  const rows = linear(read, headOf(model));
  return prompt.length === 0 ? [undefined, ...rows] : [...rows];
}

function logSumExp(logits: Float64Array, temperature: number): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > most) most = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp((logit - most) / temperature);
  return most / temperature + Math.log(sum);
}
