// Where completions come from: loops of a script's own, methods that sample, engines, servers; models that are found in odd ways.
import type { Cases } from './kinds.ts';

export const samplers: Cases = {
  clean: {},
  faulty: {},
};
