// What samples and what is trained are one policy: judged by how far the probabilities of sampled tokens are apart, each
// measure of it on its own scale.
import type { MonitorRule } from '../../../src/index.ts';
import { from, read, watchStreaks } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

export const samplingGap: MonitorRule = {
  id: 'monitor/sampling-gap',
  title: 'The inference engine and the trainer agree on the log-probabilities of what was sampled',
  stage: 'monitor',
  level: 'should',
  why: 'If they differ, the samples are of another policy than the one that is updated: other weights, another temperature, another template.',
  catches: ['LP-05', 'LP-07', 'LP-08', 'LP-17'],
  advice:
    'Check that weights are handed over after each step, that both use the same temperature and the same ids, and that the engine gives log-probabilities of processed logits.',
  roles: ['sampling_gap'],
  settings: {
    most: {
      default: 0.5,
      what: 'Nats per token, in the mean of |difference| or in an estimate of the KL between the two; of a mean factor exp|difference| its logarithm. Kernels in bfloat16 differ by 0.01, mixtures of experts by 0.1.',
    },
    most_probability: {
      default: 0.2,
      what: 'Where the difference is one of probabilities, 0 to 1. Kernels in bfloat16 differ by 0.005, mixtures of experts by 0.05; a policy that is sure of each token and another that knows none of them differ by 1.',
    },
    points: inARow(3, 'A batch may be odd.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        const scale = GAP_SCALES[series.part];
        if (scale === undefined) return undefined;
        const high = numberOf(world, scale.setting);
        return {
          bad: scale.of(value) > high,
          kind: 'above',
          sentence: (first, last) =>
            `${from(series, first, last)} is ${read(value)}, above ${read(scale.allowed(high))}${scale.words}.`,
          high: scale.allowed(high),
        };
      },
      why: 'what is logged is on a scale that is not known',
    }),
};

/** By part of the role: how a value is measured, and what the limit is in its own unit. */
const GAP_SCALES: Readonly<Record<string, GapScale>> = {
  '': { setting: 'most', of: (value) => value, allowed: (most) => most, words: ' nats per token' },
  factor: {
    setting: 'most',
    of: Math.log,
    allowed: Math.exp,
    words: ', the mean factor between the two probabilities of a token',
  },
  kl: { setting: 'most', of: (value) => value, allowed: (most) => most, words: ' nats per token' },
  probability: {
    setting: 'most_probability',
    of: (value) => value,
    allowed: (most) => most,
    words: '; a difference of probabilities is 1 at most',
  },
};

interface GapScale {
  readonly setting: string;
  readonly of: (value: number) => number;
  readonly allowed: (most: number) => number;
  readonly words: string;
}
