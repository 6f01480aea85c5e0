// What optimisers remember between two steps, and what they forget.
import { ANSWERS } from '../correct.ts';
import { PAIRS } from '../data.ts';
import type { Cases } from './kinds.ts';

const loop = (how: string, options = ANSWERS): { words: string; data: typeof PAIRS; options: string } => ({
  words: `steps/loop.py --data {data} ${how}`,
  data: PAIRS,
  options,
});

const LONG = `${ANSWERS} --strict --steps 4`;

export const states: Cases = {
  clean: {
    'an optimiser that keeps its state': loop('', LONG),
    'an optimiser that begins anew once': loop('--fault phase', LONG),
    'an optimiser without state, made for each step': loop('--fault made-again --optimiser sgd', LONG),
  },
  faulty: Object.fromEntries(
    (
      [
        ['made-again', /is made by an optimiser that has no state yet/],
        ['emptied', /finds the state of its optimiser empty/],
        ['reloaded', /finds the state of its optimiser empty/],
        ['moments-zeroed', /finds another state in its optimiser/],
      ] as const
    ).map(([fault, says]) => [
      `an optimiser that forgets between steps: ${fault}`,
      { ...loop(`--fault ${fault}`), found: 'update/optimiser-keeps-its-state', says },
    ]),
  ),
};
