// What several processes do with theirs: parameters, gradients, data and wrappers by rank.
import type { Cases } from './kinds.ts';

export const ranks: Cases = {
  clean: {},
  faulty: {},
};
