// Absolute scale, signs and pairs: declared aggregations, preference pairs, baselines, stops.
import type { Cases } from './kinds.ts';

export const shares: Cases = {
  clean: {},
  faulty: {},
};
