// Trainers in this process for the tests of the library: a KL that is right, wrong, broken or refused.
import { objectTrainer, reject, type Trainer } from '../../properties/library.ts';

/** k3 of d = ref - logprob. */
export const k3 = (d: number): number => Math.expm1(d) - d;

export function klTrainer(estimate: (d: number) => number = k3): Trainer {
  return objectTrainer({
    hello: {
      protocol: 1,
      name: 'kl-trainer',
      ops: { kl: {} },
      semantics: { kl_estimator: 'k3' },
      dtype: 'float64',
    },
    ops: {
      kl: ({ logprobs, ref_logprobs, completion_mask }) => ({
        kl: logprobs.map((row, b) =>
          row.map((logprob, t) =>
            completion_mask[b]?.[t] === 1 ? estimate((ref_logprobs[b]?.[t] ?? 0) - logprob) : 0,
          ),
        ),
      }),
    },
  });
}

/** The wrong sign of the linear term. */
export const faulty = (): Trainer => klTrainer((d) => Math.expm1(d) + d);

export const raising = (): Trainer =>
  klTrainer(() => {
    throw new Error('no reference model');
  });

export const refusing = (): Trainer => klTrainer(() => reject('not today'));
