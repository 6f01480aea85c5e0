// The adversarial data set: every kind of row is in it whatever the seed, no row is one that a trainer could not take, and
// the same question has the same answer.
import { describe, expect, test } from 'vitest';
import { DATASET_FORMS, type DatasetAsk, datasetOf } from '../../../src/generators/rows/dataset/dataset.ts';
import { kindsOf } from '../../../src/generators/rows/dataset/kinds.ts';
import { partsOf, tokensOf } from '../../../src/generators/rows/dataset/rows.ts';
import { renderChat, templateTokens } from '../../../src/tokenizers/render.ts';
import { shapesOf } from '../../../src/view/shape/shape.ts';
import { tokenizerOf } from '../../torch/trace/verdicts/closed.ts';

const ASK: DatasetAsk = {
  form: 'chat',
  rows: 32,
  seed: 1,
  mostTokens: 256,
  system: false,
  tools: false,
  empty: true,
};
const SEEDS = Array.from({ length: 4 }, (_, at) => at * 31);

describe.each(DATASET_FORMS)('the form %s', (form) => {
  test.each([undefined, 'qwen', 'llama3'])('has every kind in 32 rows, with the tokenizer %s', (family) => {
    const tokenizer = family === undefined ? undefined : tokenizerOf(family);
    for (const seed of SEEDS) {
      const made = datasetOf({ ...ASK, form, seed, tokenizer, system: family !== undefined });
      expect(made.rows).toHaveLength(32);
      expect(made.left).toEqual([]);
      expect(made.thin).toEqual([]);
      for (const { label } of kindsOf(form).filter(({ only }) => only === undefined))
        if (label !== undefined) expect(made.labels[label], label).toBeGreaterThan(0);
    }
  });

  test('is made again by the same seed, and is another one by another', () => {
    const ask = { ...ASK, form };
    expect(datasetOf(ask)).toEqual(datasetOf(ask));
    expect(datasetOf({ ...ask, seed: 2 }).rows).not.toEqual(datasetOf(ask).rows);
  });

  test('keeps to the tokens of a row, and has one that uses them up', () => {
    const tokenizer = tokenizerOf('qwen');
    for (const mostTokens of [96, 256]) {
      const { rows } = datasetOf({ ...ASK, form, tokenizer, mostTokens });
      const lengths = rows.map((row) => Number(tokensOf(row, tokenizer)));
      expect(Math.max(...lengths)).toBeLessThanOrEqual(mostTokens);
      expect(Math.max(...lengths)).toBeGreaterThan(mostTokens - 4);
    }
  });

  test('asks something in every row, and is read by `view`', () => {
    for (const row of datasetOf({ ...ASK, form }).rows) {
      const { prompts } = partsOf(row);
      expect(prompts.length).toBeGreaterThan(0);
      for (const prompt of prompts) expect(prompt.trim()).not.toBe('');
      if (form !== 'prompt') expect(shapesOf(row)).not.toHaveProperty('problem');
    }
  });
});

test('of a preference, no two halves are alike', () => {
  for (const seed of SEEDS)
    for (const row of datasetOf({ ...ASK, form: 'preference', seed }).rows)
      if ('chosen' in row) expect(row.chosen).not.toBe(row.rejected);
});

test('without a tokenizer, conversations are user and assistant in turn', () => {
  for (const row of datasetOf(ASK).rows)
    if ('messages' in row)
      expect(row.messages.map(({ role }) => role)).toEqual(
        row.messages.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
      );
});

test.each(['llama3', 'qwen', 'gemma', 'mistral', 'deepseek', 'phi'])(
  'the chat template of %s takes every row',
  (family) => {
    const tokenizer = tokenizerOf(family);
    const made = datasetOf({ ...ASK, rows: 64, tokenizer, system: true, tools: true });
    for (const row of made.rows)
      if ('messages' in row)
        expect(
          renderChat(tokenizer.chatTemplate ?? '', {
            messages: row.messages,
            addGenerationPrompt: false,
            ...templateTokens(tokenizer),
            ...(row.tools === undefined ? {} : { tools: row.tools }),
          }),
        ).not.toHaveProperty('problem');
    // What it refuses is said, in its own words, and is not called thin.
    for (const { why } of made.left) expect(why).toMatch(/chat template/);
    expect(made.thin).toEqual([]);
  },
);

test('a trainer that refuses empty answers gets none', () => {
  for (const form of DATASET_FORMS)
    for (const row of datasetOf({ ...ASK, form, empty: false }).rows)
      if (form !== 'chat') expect(partsOf(row).answers).not.toContain('');
});

test('too few rows are thin, and it is known how many have room', () => {
  const made = datasetOf({ ...ASK, rows: 4 });
  expect(made.thin.length).toBeGreaterThan(4);
  expect(datasetOf({ ...ASK, rows: made.roomy }).thin).toEqual([]);
});
