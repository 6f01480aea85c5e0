// What one process does with its gradients: silent errors of whole steps, each beside a script that is right.
import type { Cases } from './kinds.ts';

export const steps: Cases = {
  clean: {},
  faulty: {},
};
