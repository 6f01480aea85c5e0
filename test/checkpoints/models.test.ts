// The models that checks hand to trainers, and what steps on them say: by the forward pass alone.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCheckpoint, writeCheckpoint } from '../../src/checkpoints/folder.ts';
import { MODEL_KINDS, models } from '../../src/checkpoints/models.ts';
import { randomDirection } from '../../src/checkpoints/random.ts';
import {
  completionKl,
  completionLogprobs,
  completionScores,
  headWeights,
  moved,
  slopesAlong,
} from '../../src/reference/index.ts';

const BESIDE = { eosTokenIds: [2], padTokenId: 0 };
const PROMPTS = [[5, 6, 7], [9]];
const COMPLETIONS = [
  [11, 2],
  [4, 8, 3],
];

describe.each(MODEL_KINDS)('a %s model', (kind) => {
  const name = { kind, seed: 3, vocabulary: 40 };

  test('is in its folder as it is in memory, under the same path each time', () => {
    const folder = models.folder(name, BESIDE);
    expect(models.folder({ ...name }, { ...BESIDE })).toBe(folder);
    const read = readCheckpoint(folder);
    if ('problem' in read) throw new Error(read.problem);
    expect(read.config).toEqual(models.model(name).config);
    expect(read.weights).toEqual(models.model(name).weights);
  });

  test('another seed is another model of the same shape', () => {
    const [one, other] = [name, { ...name, seed: 4 }].map((each) => models.model(each));
    expect(other?.config).toEqual(one?.config);
    expect(other?.weights).not.toEqual(one?.weights);
  });

  test('what is saved is read once, and gone then', () => {
    const path = models.saving();
    expect(models.saved(path, models.model(name).config)).toHaveProperty('problem');
    writeCheckpoint(path, { ...BESIDE, model: models.model(name) });
    expect(models.saved(path, models.model(name).config)).toEqual(models.model(name).weights);
    expect(existsSync(path)).toBe(false);
  });

  test('its scores are within what they can be', () => {
    const model = models.model(name);
    const [prompt = [], completion = []] = [PROMPTS[0], COMPLETIONS[0]];
    const { logprobs, entropy } = completionScores(model, prompt, completion, 0.7);
    expect(completionLogprobs(model, [prompt], [completion], 0.7)[0]).toEqual(
      logprobs.map((value) => expect.closeTo(value, 12)),
    );
    for (const value of entropy) expect(value).toBeGreaterThan(0);
    for (const value of entropy) expect(value).toBeLessThan(Math.log(40));
    const other = models.model({ ...name, seed: 103 });
    for (const { kl } of completionKl(model, other, prompt, completion, 1)) expect(kl).toBeGreaterThan(0);
    for (const { kl, spread } of completionKl(model, model, prompt, completion, 1)) {
      expect(kl).toBe(0);
      expect(spread).toBe(0);
    }
  });

  test('slopes along a direction are what a small step in it changes', () => {
    const model = models.model(name);
    const direction = randomDirection(model.config, 1);
    const before = completionLogprobs(model, PROMPTS, COMPLETIONS, 1);
    const after = completionLogprobs(moved(model, direction, 1e-7), PROMPTS, COMPLETIONS, 1);
    for (const [b, row] of slopesAlong(model, direction, PROMPTS, COMPLETIONS).entries())
      for (const [t, slope] of row.entries())
        expect(((after[b]?.[t] ?? 0) - (before[b]?.[t] ?? 0)) / 1e-7).toBeCloseTo(slope, 2);
  });
});

test('slopes are those of the tangent where a norm divides by little', () => {
  // Embeddings of this vocabulary are small.
  const model = models.model({ kind: 'llama', seed: 1, vocabulary: 863 });
  const [prompts, completions] = [[[87]], [[121, 70, 155, 36, 1]]];
  for (const seed of [1, 2, 3, 4]) {
    const direction = randomDirection(model.config, seed);
    const at = (by: number): readonly number[] =>
      completionLogprobs(moved(model, direction, by), prompts, completions, 1)[0] ?? [];
    const step = 1e-6;
    const [ahead, behind, far, back] = [at(step), at(-step), at(2 * step), at(-2 * step)];
    for (const [t, slope] of (slopesAlong(model, direction, prompts, completions)[0] ?? []).entries()) {
      const near = (ahead[t] ?? 0) - (behind[t] ?? 0);
      // Five points: the error is of the order of step to the fourth.
      const tangent = (8 * near - ((far[t] ?? 0) - (back[t] ?? 0))) / (12 * step);
      expect(Math.abs(slope - tangent)).toBeLessThan(1e-4 * Math.max(1, Math.abs(tangent)));
    }
  }
});

test('a pad token that is a stop is none of the model: its embedding would have no gradient as a stop either', () => {
  const written = (padTokenId: number): unknown => {
    const path = models.saving();
    const model = models.model({ kind: 'llama', seed: 3, vocabulary: 40 });
    writeCheckpoint(path, { ...BESIDE, model, eosTokenIds: [2, 3], padTokenId });
    const config = JSON.parse(readFileSync(join(path, 'config.json'), 'utf8')) as { pad_token_id?: number };
    rmSync(path, { recursive: true });
    return config.pad_token_id;
  };
  expect([written(0), written(2), written(3)]).toEqual([0, undefined, undefined]);
});

test('the weights of tokens are read off the gradient of a head of its own', () => {
  const model = models.model({ kind: 'llama', seed: 3, vocabulary: 40 });
  const rows = PROMPTS.map((prompt, b) => [...prompt, ...(COMPLETIONS[b] ?? [])]);
  const wanted = [
    [0, 0, -0.5, 0.25],
    [-0.125, 0, 1],
  ];
  const head = model.weights.get('lm_head.weight');
  const gradient = new Float64Array(head?.data.length ?? 0);
  const step = 1e-5;
  for (const i of gradient.keys()) {
    const only = (by: number): number => {
      const data = Float64Array.from(head?.data ?? []);
      data[i] = (data[i] ?? 0) + by;
      const weights = new Map([...model.weights, ['lm_head.weight', { shape: head?.shape ?? [], data }]]);
      const logprobs = completionLogprobs(
        { ...model, weights },
        rows.map((ids) => ids.slice(0, 1)),
        rows.map((ids) => ids.slice(1)),
        1,
      );
      return logprobs
        .flatMap((row, b) => row.map((value, t) => value * (wanted[b]?.[t] ?? 0)))
        .reduce((x, y) => x + y, 0);
    };
    gradient[i] = (only(step) - only(-step)) / (2 * step);
  }
  const { weights, unexplained } = headWeights(model, gradient, rows);
  expect(weights).toEqual(wanted.map((row) => row.map((value) => expect.closeTo(value, 5))));
  expect(unexplained).toBeLessThan(1e-4);
  expect(
    headWeights(
      model,
      gradient.map((value, i) => (i % 2 === 0 ? value : -value)),
      rows,
    ).unexplained,
  ).toBeGreaterThan(0.5);
});
