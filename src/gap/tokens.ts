// All tokens that the policy wrote, as columns: a million of them take some 40 MB, and hypotheses run over them many times.
import type { Rollout } from './read/read.ts';

export interface Tokens {
  readonly count: number;
  readonly rows: number;
  /** What the engine recorded, and what the trainer computed. */
  readonly sampling: Float64Array;
  readonly trainer: Float64Array;
  readonly id: Int32Array;
  readonly row: Uint32Array;
  /** In the completion, from 0. */
  readonly position: Uint32Array;
  /** Tokens of the completion after it; 0: the stop token, unless the length limit cut the row. */
  readonly after: Uint32Array;
  /** Equal where prompt and completion before the token are the same. */
  readonly context: Float64Array;
  /** SEEN_IN_COMPLETION and SEEN_IN_PROMPT, added. */
  readonly seen: Uint8Array;
  /** Updates since the weights that it was sampled from, beyond the least of the file; NaN: unknown. */
  readonly age: Float64Array;
}

export const SEEN_IN_COMPLETION = 1;
export const SEEN_IN_PROMPT = 2;

/** Columns over all tokens of these rollouts that the policy wrote. */
export function tokensOf(rollouts: readonly Rollout[]): Tokens {
  const most = rollouts.reduce((sum, { ids }) => sum + ids.length, 0);
  const columns = {
    sampling: new Float64Array(most),
    trainer: new Float64Array(most),
    id: new Int32Array(most),
    row: new Uint32Array(most),
    position: new Uint32Array(most),
    after: new Uint32Array(most),
    context: new Float64Array(most),
    seen: new Uint8Array(most),
    age: new Float64Array(most),
  };
  const ageOf = agesOf(rollouts);
  let count = 0;
  for (const [row, rollout] of rollouts.entries()) {
    const seen = new Map<number, number>(rollout.prompt.map((id) => [id, SEEN_IN_PROMPT]));
    let hash = rollout.prompt.reduce(hashed, NO_TOKENS);
    for (const [at, id] of rollout.ids.entries()) {
      const context = hash;
      hash = hashed(hash, id);
      const before = seen.get(id) ?? 0;
      seen.set(id, before | SEEN_IN_COMPLETION);
      if (!rollout.written(at)) continue;
      columns.sampling[count] = rollout.sampling[at] ?? 0;
      columns.trainer[count] = rollout.trainer[at] ?? 0;
      columns.id[count] = id;
      columns.row[count] = row;
      columns.position[count] = at;
      columns.after[count] = rollout.ids.length - 1 - at;
      columns.context[count] = context;
      columns.seen[count] = before;
      columns.age[count] = ageOf(rollout, at);
      count++;
    }
  }
  return { ...columns, count, rows: rollouts.length };
}

/** The trainer's log-probability less the engine's. */
export function gapAt({ sampling, trainer }: Tokens, at: number): number {
  return (trainer[at] ?? 0) - (sampling[at] ?? 0);
}

// --- helpers ---

const NO_TOKENS = 0;

/** 53 bits of all ids so far: two contexts of one file do not meet by chance. */
function hashed(hash: number, id: number): number {
  const low = Math.imul((hash >>> 0) ^ id, 0x9e3779b1) ^ (hash / 2 ** 32);
  const high = Math.imul(low ^ (low >>> 15), 0x85ebca6b);
  return ((high >>> 11) * 2 ** 32 + ((low ^ (high >>> 7)) >>> 0)) % 2 ** 53;
}

/**
 * Steps of the trainer since the version, where rows have a step, else versions before the newest. Counters begin
 * anywhere, so the least age of the file counts as 0.
 */
function agesOf(rollouts: readonly Rollout[]): (rollout: Rollout, at: number) => number {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { version, ids } of rollouts)
    if (version !== undefined) for (const at of ids.keys()) newest = Math.max(newest, version(at));
  const stepped = rollouts.every(({ step }) => step !== undefined);
  const raw = ({ version, step }: Rollout, at: number): number =>
    version === undefined ? Number.NaN : (stepped ? (step ?? 0) : newest) - version(at);
  let least = Number.POSITIVE_INFINITY;
  for (const rollout of rollouts)
    for (const at of rollout.ids.keys()) {
      const age = raw(rollout, at);
      if (age < least) least = age;
    }
  return (rollout, at) => raw(rollout, at) - least;
}
