// Each side beside a model: the wrong one departs, whichever it is, and a right one never does.
import { describe, expect, test } from 'vitest';
import { gapOf, withModel } from '../../src/gap/gap.ts';
import { againstModel, departs, type OfBoth } from '../../src/gap/model.ts';
import { verdictOf } from '../../src/report/gap/gap.ts';
import { scoringSentence, sidesSentence } from '../../src/report/gap/model.ts';
import { type Change, gaussian, type Planted, rolloutsWith } from './model.ts';
import { bf16, NOISES } from './noise.ts';
import { both, heated, otherWeights, shifted } from './planted.ts';

/** Other experts for one token in seven. */
const jumping: Change = (logits, { random }) => {
  const size = random() < 0.15 ? 0.8 : 0.02;
  return logits.map((logit) => logit + size * gaussian(random));
};

const SIZE = { rows: 120, length: 40, sharpness: 3 };

/** The model is the trainer of the same rows without a change: it draws nothing. */
function against(planted: Planted, seed = 61): OfBoth {
  const rows = rolloutsWith(
    { ...planted, trainer: (logits) => logits, recorded: (row) => row },
    { seed, ...SIZE },
  );
  // The same draws: a trainer that draws would sample other tokens.
  const sides = rows.map((row) => ({ ...row, exact: row.trainer }));
  const scored = sides.map(({ exact, ...rollout }) => {
    const trainer =
      planted.recorded?.({ sampling: [...rollout.sampling], trainer: [...exact] }).trainer ?? exact;
    return { rollout: { ...rollout, trainer: Float64Array.from(trainer) }, model: exact };
  });
  const found = againstModel(scored);
  if ('complaint' in found) throw new Error(found.complaint);
  return found;
}
const judged = (of: OfBoth) => ({ against: of, scoring: { folder: 'm', dtype: 'float32', device: 'cpu' } });

test('an engine at another temperature departs, by that cause; the trainer agrees', () => {
  const of = against({ engine: both(heated(0.7), bf16) });
  expect(of.engine.analysis.named[0]?.id).toBe('temperature');
  expect(departs(of.trainer)).toBe(false);
  expect(sidesSentence(judged(of))).toBe('The engine departs from the model; the trainer agrees with it.');
});

test('a shifted trainer departs; the engine agrees, and the sentence names model and trainer', () => {
  const of = against({ engine: bf16, recorded: shifted(1) });
  const [named] = of.trainer.analysis.named;
  expect(named?.id).toBe('shift');
  expect(departs(of.engine)).toBe(false);
  if (named === undefined) throw new Error('nothing named');
  expect(named.fit.sentence).toMatch(/the model's log-probability .* where the trainer has/);
  expect(named.fit.sentence).not.toContain('engine');
});

test('two sides that have the same other weights both depart', () => {
  const rows = rolloutsWith({ engine: otherWeights(0.9) }, { seed: 62, ...SIZE });
  const found = againstModel(
    rows.map((rollout) => ({ rollout: { ...rollout, trainer: rollout.sampling }, model: rollout.trainer })),
  );
  if ('complaint' in found) throw new Error(found.complaint);
  expect([departs(found.engine), departs(found.trainer)]).toEqual([true, true]);
  expect(sidesSentence(judged(found))).toMatch(/^Both sides depart/);
});

describe.each(Object.entries(NOISES))('%s noise', (_, noise) => {
  test('makes no side depart', () => {
    for (const seed of [63, 64]) {
      const of = against({ engine: noise }, seed);
      expect([of.engine, of.trainer].map(({ analysis }) => analysis.verdict)).toEqual(['noise', 'noise']);
    }
  });
});

test('too few scored rows are no verdict', () => {
  const rows = rolloutsWith({}, { seed: 65, ...SIZE, rows: 5 });
  expect(againstModel(rows.map((rollout) => ({ rollout, model: rollout.trainer })))).toMatchObject({
    complaint: expect.stringContaining('the model scored 5 rows'),
  });
});

test('the rounding of the declared dtype is measured, where it is another one', () => {
  const rows = rolloutsWith({}, { seed: 66, ...SIZE });
  const found = againstModel(
    rows.map((rollout) => ({
      rollout,
      model: rollout.trainer,
      declared: rollout.trainer.map((each) => each - 0.01),
    })),
  );
  if ('complaint' in found) throw new Error(found.complaint);
  expect(found.roundingRms).toBeCloseTo(0.01, 9);
  expect(
    scoringSentence({ ...judged(found), scoring: { folder: 'm', dtype: 'bfloat16', device: 'cpu' } }),
  ).toContain('Scored in bfloat16, it moves by an RMS of 0.01.');
});

describe('a mixture of experts', () => {
  /** The engine rounds as the declared dtype does: far, where tokens went to other experts. */
  const scored = rolloutsWith({ engine: jumping }, { seed: 67, ...SIZE }).map((rollout) => {
    const moved = rollout.sampling.map((each, at) => each - (rollout.exact[at] ?? 0));
    return {
      rollout,
      model: rollout.exact,
      declared: rollout.exact.map((each, at) => each - (moved[at] ?? 0)),
      flipped: Uint8Array.from(moved, (each) => (Math.abs(each) > 0.3 ? 1 : 0)),
    };
  });

  test('its router flips are measured, and what it rounds to is no departure', () => {
    const found = againstModel(scored);
    if ('complaint' in found) throw new Error(found.complaint);
    expect(found.engine.rms).toBeGreaterThan(0.12);
    expect([found.engine, found.trainer].map(departs)).toEqual([false, false]);
    expect(found.flips?.rms).toBeGreaterThan(3 * (found.flips?.otherRms ?? 0));
    expect(scoringSentence(judged(found))).toMatch(
      /Router flips: in float32 its routers send \d+ % of tokens/,
    );
    const gap = gapOf(scored.map(({ rollout }) => rollout));
    if ('complaint' in gap) throw new Error(gap.complaint);
    expect([gap.analysis.verdict, withModel(gap, found).analysis.verdict]).toEqual(['unexplained', 'noise']);
    expect(verdictOf(withModel(gap, found))).toMatch(
      /^✓ Noise: an RMS gap of .* is the model's own rounding/,
    );
  });

  test('the same gap without rounding of its size departs', () => {
    const found = againstModel(scored.map(({ rollout, model }) => ({ rollout, model, declared: model })));
    if ('complaint' in found) throw new Error(found.complaint);
    expect(departs(found.engine)).toBe(true);
    const gap = gapOf(scored.map(({ rollout }) => rollout));
    if ('complaint' in gap) throw new Error(gap.complaint);
    expect(withModel(gap, found)).toBe(gap);
  });
});
