// What optimisers remember between two steps and from an earlier run, and what they forget.
import { ANSWERS } from '../correct.ts';
import { PAIRS } from '../data.ts';
import type { Cases } from '../kinds.ts';

const script = (
  words: string,
  options = ANSWERS,
): { words: string; data: typeof PAIRS; options: string } => ({
  words,
  data: PAIRS,
  options,
});
const loop = (how: string, options = ANSWERS): ReturnType<typeof script> =>
  script(`steps/loop.py --data {data} ${how}`, options);
const resumed = (way: string, options = ANSWERS): ReturnType<typeof script> =>
  script(`steps/resumed.py --data {data} --way ${way}`, options);

const LONG = `${ANSWERS} --strict --steps 4`;
const NO_STATE = /LambdaLR is at step 6 when step 0 at \S+ is made, and its optimiser has no state/;

export const states: Cases = {
  clean: {
    'an optimiser that keeps its state': loop('', LONG),
    'an optimiser that begins anew once': loop('--fault phase', LONG),
    'an optimiser without state, made for each step': loop('--fault made-again --optimiser sgd', LONG),
    ...Object.fromEntries(
      ['all', 'fresh', 'plain-descent', 'stepped-first', 'constant', 'by-epochs', 'explicit'].map((way) => [
        `a run that goes on from a checkpoint: ${way}`,
        resumed(way, way === 'by-epochs' ? `${ANSWERS} --steps 4` : LONG),
      ]),
    ),
  },
  faulty: Object.fromEntries([
    ...(
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
    ...(
      [
        ['scheduler-alone', NO_STATE],
        ['last-epoch', NO_STATE],
        ['stepped-forward', NO_STATE],
        ['momentum', NO_STATE],
        ['optimiser-alone', /has made 6 steps when step 0 at \S+ is made, and LambdaLR begins at 0/],
      ] as const
    ).map(([way, says]) => [
      `a run that goes on from a part of a checkpoint: ${way}`,
      { ...resumed(way), found: 'update/a-resumed-run-goes-on', says },
    ]),
  ]),
};
