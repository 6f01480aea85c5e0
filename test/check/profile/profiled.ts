// Trainers of every legal convention, small enough to see through, with formulas of their own: nothing of
// src/reference is used, so that a probe and what it probes cannot share a mistake.
import { type Hello, type ObjectTrainerSpec, objectTrainer, type Trainer } from '../../../src/index.ts';

export interface Made {
  /** Rounds like the trainer's number format; default: float64. */
  readonly round?: (value: number) => number;
  readonly dtype?: Hello['dtype'];
  readonly kl?: (logprob: number, ref: number, old: number) => number;
  readonly beta?: number;
  readonly scaling?: 'group' | 'batch' | 'none';
  readonly ddof?: 0 | 1;
  /** Standard deviation to divisor. */
  readonly divisor?: (deviation: number) => number;
  /** Tokens of the row, tokens of the batch, rows: the weight of a token. */
  readonly factor?: (row: number, batch: number, rows: number) => number;
  readonly local?: boolean;
  readonly clip?: readonly [number, number];
  /** The ratio of a bad answer counts this much at most. */
  readonly dual?: number;
  /** The log-ratio is kept within this of 0. */
  readonly held?: number;
  readonly baseline?: (group: readonly number[], all: readonly number[]) => number;
  /** Something else that is in the loss of a token, whatever its advantage. */
  readonly extra?: (logprob: number) => number;
  /** GSPO: one ratio per row. */
  readonly sequenceRatio?: boolean;
  readonly semantics?: Hello['semantics'];
}

export const k1 = (logprob: number, ref: number): number => logprob - ref;
export const k2 = (logprob: number, ref: number): number => (ref - logprob) ** 2 / 2;
export const k3 = (logprob: number, ref: number): number => Math.exp(ref - logprob) - (ref - logprob) - 1;
export const timesRatio =
  (kl: typeof k3) =>
  (logprob: number, ref: number, old: number): number =>
    kl(logprob, ref) * Math.exp(logprob - old);
const within = (value: number, bound: number): number => Math.min(bound, Math.max(-bound, value));
export const ofClamped =
  (kl: typeof k3, bound: number) =>
  (logprob: number, ref: number): number =>
    kl(0, within(ref - logprob, bound));
export const clamped =
  (kl: typeof k3, bound: number) =>
  (logprob: number, ref: number): number =>
    within(kl(logprob, ref), bound);

/** Ops kl, advantages and loss. The loss is given without slopes: only its value tells. */
export function made(how: Made = {}): Trainer {
  return objectTrainer(madeSpec(how));
}

export function madeSpec(how: Made): ObjectTrainerSpec {
  const { kl = k3, beta = 0.04, scaling = 'group', ddof = 1, local = false } = how;
  const { round = (value: number) => value, divisor = (deviation: number) => deviation + 1e-4 } = how;
  const { factor = (_, batch) => 1 / batch, clip = [0.2, 0.2], sequenceRatio = false, extra } = how;
  const total = (values: readonly number[]): number => values.reduce((sum, value) => round(sum + value), 0);
  const deviation = (values: readonly number[]): number => {
    const mean = round(total(values) / values.length);
    return round(
      Math.sqrt(total(values.map((value) => round((value - mean) ** 2))) / (values.length - ddof)),
    );
  };
  const rowsLoss = (
    args: Parameters<NonNullable<ObjectTrainerSpec['ops']['loss']>>[0],
    rows: readonly number[],
  ) => {
    const counts = args.completion_mask.map((row) => row.filter((on) => on === 1).length);
    const batch = rows.reduce((sum, b) => sum + (counts[b] ?? 0), 0);
    let loss = 0;
    for (const b of rows) {
      const of = (track: readonly (readonly number[])[], t: number): number => track[b]?.[t] ?? 0;
      const on = (args.completion_mask[b] ?? []).flatMap((value, t) => (value === 1 ? [t] : []));
      const logRatios = on.map((t) => of(args.logprobs, t) - of(args.old_logprobs, t));
      const mean = logRatios.reduce((sum, value) => sum + value, 0) / on.length;
      on.forEach((t, at) => {
        const ratio = Math.exp(within(sequenceRatio ? mean : (logRatios[at] ?? 0), how.held ?? Infinity));
        const advantage = args.advantages[b] ?? 0;
        const held = Math.min(1 + clip[1], Math.max(1 - clip[0], ratio));
        const term = kl(of(args.logprobs, t), of(args.ref_logprobs, t), of(args.old_logprobs, t));
        const more = extra?.(of(args.logprobs, t)) ?? 0;
        const once = Math.min(ratio * advantage, held * advantage);
        const gain = advantage < 0 ? Math.max(once, (how.dual ?? Infinity) * advantage) : once;
        loss += factor(on.length, batch, rows.length) * (beta * term + more - gain);
      });
    }
    return loss;
  };
  return {
    hello: {
      protocol: 1,
      name: 'made',
      dtype: how.dtype ?? 'float64',
      ops: { kl: {}, advantages: {}, loss: { micro_batches: true } },
      ...(how.semantics === undefined ? {} : { semantics: how.semantics }),
    },
    ops: {
      kl: ({ logprobs, ref_logprobs, old_logprobs }) => ({
        kl: logprobs.map((row, b) =>
          row.map((value, t) => round(kl(value, ref_logprobs[b]?.[t] ?? 0, old_logprobs[b]?.[t] ?? 0))),
        ),
      }),
      advantages: ({ rewards, group_ids }) => {
        const known = rewards.map(round);
        return {
          advantages: known.map((reward, at) => {
            const group = known.filter((_, other) => group_ids[other] === group_ids[at]);
            const base = how.baseline?.(group, known) ?? total(group) / group.length;
            const centred = round(reward - round(base));
            if (scaling === 'none') return centred;
            return round(centred / round(divisor(deviation(scaling === 'group' ? group : known))));
          }),
        };
      },
      loss: (args) => {
        const all = args.logprobs.map((_, b) => b);
        const parts = local ? args.micro_batches : [all];
        return { loss: parts.reduce((sum, rows) => sum + rowsLoss(args, rows), 0) / parts.length };
      },
    },
  };
}

/** The same trainer, saying nothing of what it does. */
export function undeclared(trainer: Trainer): Trainer {
  const { semantics: _, ...hello } = trainer.hello;
  return { ...trainer, hello };
}
