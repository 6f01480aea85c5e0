// Losses that are more than log-probabilities of single targets: smoothing, caps, teachers, entropy, gradients by hand.
import type { Cases } from './kinds.ts';

export const losses: Cases = {
  clean: {},
  faulty: {},
};
