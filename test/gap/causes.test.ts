// Rollouts of a small random model over bf16 noise: two causes at once are named; noise and another network have none.
// causes.slow.test.ts plants each cause.
import { expect, test } from 'vitest';
import { analyse, rank } from '../../src/gap/analyse.ts';
import { tokensOf } from '../../src/gap/tokens.ts';
import { type Place, type Planted, randomOf, rolloutsWith } from './model.ts';
import { bf16, NOISES } from './noise.ts';
import { both, heated, moved, otherWeights, topP } from './planted.ts';

const SIZE = { rows: 100, length: 40 };
const tokensWith = (planted: Planted, seed: number) => tokensOf(rolloutsWith(planted, { seed, ...SIZE }));

test.each(Object.entries(NOISES))('%s noise has no cause', (_, noise) => {
  expect(analyse(tokensWith({ engine: noise, trainer: noise }, 12))).toMatchObject({
    verdict: 'noise',
    named: [],
  });
});

test('another network has no cause, and is no noise', () => {
  const tokens = tokensWith({ engine: bf16, trainer: both(otherWeights(0.95), bf16) }, 13);
  expect(analyse(tokens)).toMatchObject({ verdict: 'unexplained', named: [] });
});

test('rows that share a prompt make a temperature exact', () => {
  const planted = { engine: both(heated(0.7), bf16), trainer: bf16 };
  const temperatureOf = (group: number): Readonly<Record<string, number>> =>
    rank(tokensOf(rolloutsWith(planted, { seed: 14, ...SIZE, group }))).find(({ id }) => id === 'temperature')
      ?.fit.parameters ?? {};
  expect(Math.abs((temperatureOf(8).temperature ?? 0) - 0.7)).toBeLessThan(0.02);
  expect(temperatureOf(1)).toMatchObject({ pairs: 0 });
});

const isFirst = ({ position }: Place): number => (position === 0 ? 1 : 0);

test('two causes at once are both named', () => {
  const { named } = analyse(
    tokensWith({ engine: both(topP(0.8), bf16), trainer: both(moved(2, isFirst), bf16) }, 15),
  );
  expect(named.map(({ id }) => id)).toEqual(['truncation', 'first-token']);
  expect(named.map(({ share }) => share)).toEqual(
    named
      .map(({ share }) => share)
      .slice()
      .sort((a, b) => b - a),
  );
});

test('what a shift moves in at the end of rows is no cause of its own', () => {
  for (const by of [1, -1]) {
    const rolled = (row: readonly number[]): readonly number[] => [...row.slice(by), ...row.slice(0, by)];
    const { named } = analyse(
      tokensWith(
        { engine: bf16, trainer: bf16, recorded: (row) => ({ ...row, trainer: rolled(row.trainer) }) },
        16,
      ),
    );
    expect(named.map(({ id }) => id)).toEqual(['shift']);
  }
});

test('values that have nothing to do with the trainer are no truncation', () => {
  const random = randomOf(18);
  const tokens = tokensWith({ trainer: (logits) => logits.map((logit) => 0.05 * logit) }, 17);
  const sampling = tokens.sampling.map(() => -3 * random());
  expect(analyse({ ...tokens, sampling }).named.map(({ id }) => id)).not.toContain('truncation');
});
