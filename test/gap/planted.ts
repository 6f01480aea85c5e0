// What the tests plant: changes of logits, and of recorded numbers. cases.ts has them at two strengths each.
import { type Change, gaussian, type Place, type Planted } from './model.ts';

export const heated =
  (t: number): Change =>
  (logits) =>
    logits.map((logit) => logit / t);

export const topP =
  (mass: number): Change =>
  (logits) =>
    keep(logits, (p, before) => before < mass && p > 0);
export const topK =
  (k: number): Change =>
  (logits) =>
    keep(logits, (_, __, rank) => rank < k);
export const minP =
  (least: number): Change =>
  (logits) =>
    keep(logits, (p, _, __, most) => p >= least * most);

/** Of tokens that came before, as vLLM's presence_penalty, frequency_penalty and repetition_penalty. */
export const presence =
  (by: number): Change =>
  (logits, { ids }) =>
    biased(logits, new Set(ids), (logit) => logit - by);
export const frequency =
  (by: number): Change =>
  (logits, { ids }) =>
    biased(logits, new Set(ids), (logit, id) => logit - by * ids.filter((each) => each === id).length);
export const repetition =
  (by: number): Change =>
  (logits, { ids, prompt }) =>
    biased(logits, new Set([...prompt, ...ids]), (logit) => (logit > 0 ? logit / by : logit * by));
export const bias =
  (ids: readonly number[], by: number): Change =>
  (logits) =>
    biased(logits, new Set(ids), (logit) => logit + by);

/** Logits of another network: each moved at random. */
export const moved =
  (by: number, where: (place: Place) => number = () => 1): Change =>
  (logits, place) => {
    const size = by * where(place);
    return size === 0 ? logits : logits.map((logit) => logit + size * gaussian(place.random));
  };

/** Logits of another network that is as sure as this one: `alike` of each is shared. */
export const otherWeights =
  (alike: number): Change =>
  (logits, { random }) => {
    const width = Math.sqrt(logits.reduce((sum, logit) => sum + logit * logit, 0) / logits.length);
    return logits.map((logit) => alike * logit + Math.sqrt(1 - alike * alike) * width * gaussian(random));
  };

export const shifted =
  (by: number): NonNullable<Planted['recorded']> =>
  (row) => ({
    ...row,
    trainer: row.trainer.map((own, at) => row.trainer[at + by] ?? own),
  });

export const times =
  (by: number): NonNullable<Planted['recorded']> =>
  (row) => ({ ...row, trainer: row.trainer.map((each) => each * by) });

export const both =
  (...changes: readonly Change[]): Change =>
  (logits, place) =>
    changes.reduce((now, change) => change(now, place), logits);

// --- helpers ---

function biased(
  logits: Float64Array,
  ids: ReadonlySet<number>,
  by: (logit: number, id: number) => number,
): Float64Array {
  return logits.map((logit, id) => (ids.has(id) ? by(logit, id) : logit));
}

function keep(
  logits: Float64Array,
  isKept: (p: number, before: number, rank: number, most: number) => boolean,
): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b));
  const weights = logits.map((logit) => Math.exp(logit - most));
  const total = weights.reduce((a, b) => a + b);
  const order = [...weights.keys()].sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
  const kept = logits.slice();
  let before = 0;
  for (const [rank, id] of order.entries()) {
    const p = (weights[id] ?? 0) / total;
    if (!isKept(p, before, rank, 1 / total)) kept[id] = Number.NEGATIVE_INFINITY;
    before += p;
  }
  return kept;
}
