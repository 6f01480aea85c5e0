// What a step of training does to a model's parameters, by central finite differences of its log-probabilities; and the
// other way round, which weight each token had, from what the head moved by.
import type { Ids, Ragged } from '../../vocabulary.ts';
import { headOf, hiddenStates } from './forward.ts';
import { linear } from './layers.ts';
import { completionLogprobs } from './model-score.ts';
import type { ModelWeights, ReferenceModel } from './weights.ts';

/**
 * The slope of log p of each completion token along a direction in the space of all parameters, (B, C). The error is of
 * the order of STEP².
 */
export function slopesAlong(
  model: ReferenceModel,
  direction: ModelWeights,
  prompts: Ragged,
  completions: Ragged,
): number[][] {
  const [ahead, behind] = [STEP, -STEP].map((by) =>
    completionLogprobs(moved(model, direction, by), prompts, completions, 1),
  );
  return (ahead ?? []).map((row, b) =>
    row.map((value, t) => (value - (behind?.[b]?.[t] ?? Number.NaN)) / (2 * STEP)),
  );
}

/** The model with each parameter moved by so much of the direction's; parameters that it leaves out stay. */
export function moved(model: ReferenceModel, direction: ModelWeights, by: number): ReferenceModel {
  const weights = new Map(model.weights);
  for (const [name, { data: along }] of direction) {
    const before = model.weights.get(name);
    if (before === undefined) continue;
    weights.set(name, {
      shape: before.shape,
      data: before.data.map((value, i) => value + by * (along[i] as number)),
    });
  }
  return { ...model, weights };
}

/**
 * dL/dlogprob of each token behind the first, (B, T - 1), from the gradient of a head that is not the embedding: with h
 * the state that predicts a token and p its distribution, that gradient is Σ c (e_y - p) hᵀ, which is linear in the
 * weights c. Solved by least squares; tokens that cannot be told apart (the same row twice) share evenly. `unexplained` is
 * the share of the gradient's length, 0 to 1, that no weights explain: the states or the distributions were others.
 */
export function headWeights(
  model: ReferenceModel,
  gradient: Float64Array,
  rows: Ragged,
): { readonly weights: number[][]; readonly unexplained: number } {
  const tokens = rows.flatMap((ids) => predictionsOf(model, ids));
  const width = model.config.width;
  const along = tokens.map(({ state, error }) => {
    let total = 0;
    for (const [id, part] of error.entries())
      for (let i = 0; i < width; i++)
        total += part * (state[i] as number) * (gradient[id * width + i] as number);
    return total;
  });
  const together = tokens.map((a) => tokens.map((b) => dot(a.state, b.state) * dot(a.error, b.error)));
  const solved = solve(together, along);
  let at = 0;
  const weights = rows.map((ids) => ids.slice(1).map(() => solved[at++] ?? Number.NaN));
  // |G - Σ c x|² = |G|² - 2 c·(G·x) + c·(x·x) c
  const square = gradient.reduce((sum, value) => sum + value * value, 0);
  const left = solved.reduce(
    (sum, c, i) =>
      sum -
      2 * c * (along[i] as number) +
      c * solved.reduce((part, d, j) => part + d * (together[i]?.[j] as number), 0),
    square,
  );
  return { weights, unexplained: square === 0 ? 0 : Math.sqrt(Math.max(0, left) / square) };
}

// --- helpers ---

/**
 * What a norm divides by is small where an embedding is: log-probabilities bend on a scale of 1e-4 of a weight there, and steps of
 * 1e-5 are a thousandth off. Rounding, 1e-15 of them, is 1e-8 of a slope.
 */
const STEP = 1e-7;
/** Of the largest diagonal entry: enough to share where tokens are the same. */
const RIDGE = 1e-9;

interface Predicted {
  readonly state: Float64Array;
  /** e_y - p, (V,). */
  readonly error: Float64Array;
}

function predictionsOf(model: ReferenceModel, ids: Ids): Predicted[] {
  const states = hiddenStates(model, { ids }).slice(0, -1);
  return linear(states, headOf(model)).map((logits, t) => {
    const most = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const weights = logits.map((logit) => Math.exp(logit - most));
    const total = weights.reduce((a, b) => a + b, 0);
    const error = weights.map((weight, id) => Number(id === ids[t + 1]) - weight / total);
    return { state: states[t] as Float64Array, error };
  });
}

const dot = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

/** Gauss and Jordan with a ridge; the matrix is symmetric and nowhere negative. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const most = Math.max(0, ...matrix.map((row, i) => row[i] as number));
  const rows = matrix.map((row, i) => [
    ...row.map((value, j) => (i === j ? value + RIDGE * most : value)),
    right[i] as number,
  ]);
  for (const [i, pivot] of rows.entries())
    for (const [j, row] of rows.entries()) {
      if (i === j) continue;
      const factor = (row[i] as number) / (pivot[i] as number);
      if (factor !== 0)
        for (let k = i; k < row.length; k++) row[k] = (row[k] as number) - factor * (pivot[k] as number);
    }
  return rows.map((row, i) => (row.at(-1) as number) / (row[i] as number));
}
