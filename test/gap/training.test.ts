// What a gap does to training, on weights that can be worked out by hand, and on planted models.
import { describe, expect, test } from 'vitest';
import { compare } from '../../src/gap/compare.ts';
import { gapOf } from '../../src/gap/gap.ts';
import { HEALTHY, isHealthy, MEASURES, SOURCES } from '../../src/gap/healthy.ts';
import { tokensOf } from '../../src/gap/tokens.ts';
import { isTilted, trainingOf } from '../../src/gap/training.ts';
import { measureLines, trainingSentence } from '../../src/report/gap/training.ts';
import { type Planted, rolloutsWith } from './model.ts';
import { bf16, NOISES } from './noise.ts';
import { both, heated, topP } from './planted.ts';

/** One row whose weights are these. */
const weighing = (weights: readonly number[]) =>
  tokensOf([
    {
      prompt: [1],
      ids: weights.map((_, at) => at),
      sampling: Float64Array.from(weights, () => -4),
      trainer: Float64Array.from(weights, (weight) => -4 + Math.log(weight)),
      written: () => true,
      names: { sampling: 's', trainer: 't' },
    },
  ]);

const planted = (what: Planted, seed = 41) => rolloutsWith(what, { seed, rows: 60, length: 40 });

test('the bias is what a weight lacks of w, before and after corrections', () => {
  // w: 4, 1, 0.25, 0.75. Of 6, without a correction: 3 + 0 + 0.75 + 0.25 is on the wrong tokens, 2 are missing.
  const [none, tis, icepop] = trainingOf(weighing([4, 1, 0.25, 0.75])).corrections;
  expect(none).toMatchObject({ name: 'none', touched: 0, ess: 1 });
  expect(none?.size).toBeCloseTo(4 / 6, 12);
  expect(none?.sign).toBeCloseTo(-2 / 6, 12);
  // TIS cuts 4 to 2; IcePop masks 0.25.
  expect(tis).toMatchObject({ name: 'TIS', touched: 0.25 });
  expect([tis?.size, tis?.sign]).toEqual([expect.closeTo(2 / 6, 12), expect.closeTo(-2 / 6, 12)]);
  expect(tis?.ess).toBeCloseTo(4 ** 2 / (4 + 1 + 0.0625 + 0.5625) / 4, 12);
  expect(icepop).toMatchObject({ name: 'IcePop', touched: 0.25 });
  expect([icepop?.size, icepop?.sign]).toEqual([expect.closeTo(0.25 / 6, 12), expect.closeTo(-0.25 / 6, 12)]);
  expect(icepop?.ess).toBeCloseTo(5.75 ** 2 / (16 + 1 + 0.5625) / 4, 12);
});

test('a correction that masks everything leaves nothing, and no NaN', () => {
  const [, , icepop] = trainingOf(weighing([0.01, 0.02])).corrections;
  expect(icepop).toMatchObject({ size: 1, sign: -1, ess: 0, touched: 1 });
});

test('a value of nonsense does not make the others NaN', () => {
  const { corrections } = trainingOf(weighing([Math.exp(900), 1]));
  for (const { size, sign, ess } of corrections)
    expect([size, sign, ess].every(Number.isFinite), `${size} ${sign} ${ess}`).toBe(true);
  expect(Number.isFinite(compare(weighing([Math.exp(900), 1])).essTokens)).toBe(true);
});

describe('which tokens count too much', () => {
  test('in an engine at temperature 0.7: likely tokens do, unlikely ones count too little', () => {
    const { groups } = trainingOf(tokensOf(planted({ engine: both(heated(0.7), bf16), trainer: bf16 })));
    const [unlikely, between] = groups;
    expect(groups.map(({ name }) => name)).toEqual(['p below 0.1', 'p from 0.1 to 0.9', 'p above 0.9']);
    expect(unlikely?.excess).toBeLessThan(-0.1);
    expect(between?.excess).toBeGreaterThan(0.1);
    expect(groups.filter(isTilted).length).toBeGreaterThan(1);
  });

  test.each(Object.entries(NOISES))('in %s noise: none', (_, noise) => {
    const tilted = [500, 501, 502].flatMap((seed) =>
      trainingOf(tokensOf(planted({ engine: noise, trainer: noise }, seed))).groups.filter(isTilted),
    );
    expect(tilted).toEqual([]);
  });

  test('a group in few rows is left out', () => {
    expect(trainingOf(weighing([1, 2])).groups).toEqual([]);
  });
});

describe('healthy ranges', () => {
  test('hold for noise of bf16 logits, and each names a public page', () => {
    const measured = compare(tokensOf(planted({ engine: bf16, trainer: bf16 })));
    expect(MEASURES.filter((measure) => !isHealthy(measured, measure))).toEqual([]);
    for (const { source } of Object.values(HEALTHY))
      expect(SOURCES[source].page).toMatch(/^https:\/\/github\.com\/.+\/blob\/[0-9a-f]{40}\/docs\//);
  });

  test('are left by top-p in the engine only, and the sentence names the measures', () => {
    const gap = gapOf(planted({ engine: both(topP(0.8), bf16), trainer: bf16 }));
    if ('complaint' in gap) throw new Error(gap.complaint);
    expect(trainingSentence(gap)).toMatch(/^Outside the healthy range: KL \(k1\), KL \(k3\)\. 2\d %/);
    expect(
      measureLines(gap)
        .filter(({ isOutside }) => isOutside)
        .map(({ healthy }) => healthy),
    ).toEqual(['-0.1 to 0.1 (verl)', 'up to 0.001 (NeMo-RL)']);
  });
});
