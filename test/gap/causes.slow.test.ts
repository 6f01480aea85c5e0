// Every planted cause at every strength, in models that are sure and in models that are not, at 200 completions; and many runs of noise of
// four kinds.
import { describe, expect, test } from 'vitest';
import { analyse } from '../../src/gap/analyse.ts';
import { tokensOf } from '../../src/gap/tokens.ts';
import { isTilted, trainingOf } from '../../src/gap/training.ts';
import { rolloutsWith } from './model.ts';
import { NOISES } from './noise.ts';
import { PLANTED } from './planted.ts';

const SHARPNESSES = [2, 4];
/** Of the specification: of all cases, named first. */
const LEAST_FIRST = 0.9;
const RUNS_OF_NOISE = 20;

test('a planted cause is named first in nine of ten cases', () => {
  const cases = SHARPNESSES.flatMap((sharpness) =>
    PLANTED.map((make) => {
      const { cause, name, planted } = make();
      const { named } = analyse(tokensOf(rolloutsWith(planted, { seed: 31, sharpness })));
      return { name: `${name} at ${sharpness}`, first: named[0]?.id, cause };
    }),
  );
  const others = cases.filter(({ first, cause }) => first !== cause);
  expect(others.length / cases.length, JSON.stringify(others)).toBeLessThanOrEqual(1 - LEAST_FIRST);
});

describe('no cause is named in runs of noise, and no tokens count too much', () => {
  test.each(Object.entries(NOISES))('%s', (_, noise) => {
    const blamed = Array.from({ length: RUNS_OF_NOISE }, (__, run) => 300 + run).filter((seed) => {
      const rollouts = rolloutsWith(
        { engine: noise, trainer: noise },
        { seed, length: 30, sharpness: 2 + (seed % 4) },
      );
      const tokens = tokensOf(rollouts);
      return analyse(tokens).verdict !== 'noise' || trainingOf(tokens).groups.some(isTilted);
    });
    expect(blamed).toEqual([]);
  });
});
