import fc from 'fast-check';
import { expect, test } from 'vitest';
import { imagesIn, multimodalBatch, multimodalLabels } from '../../../src/generators/rows/multimodal.ts';

const batches = (sides: readonly ('left' | 'right')[] = [], maxTurns?: number) =>
  fc.sample(multimodalBatch({ sides, maxTurns }), { seed: 1, numRuns: 300 });

test('no two images of a batch have the same color', () => {
  for (const { conversations } of batches()) {
    const colors = conversations.flatMap((messages) => imagesIn(messages).map(({ color }) => color.join()));
    expect(new Set(colors).size).toBe(colors.length);
  }
});

test('images stand before and after words, in questions only', () => {
  const questions = batches().flatMap(({ conversations }) => conversations.flat());
  expect(questions.some(({ content }) => content[0]?.type === 'image' && content[1]?.type === 'text')).toBe(
    true,
  );
  expect(questions.some(({ content }) => content[0]?.type === 'text' && content[1]?.type === 'image')).toBe(
    true,
  );
  for (const { role, content } of questions)
    if (role === 'assistant') expect(content.map(({ type }) => type)).toEqual(['text']);
});

test('a trainer of one turn is given one, and sides that it offers only', () => {
  for (const { conversations, side } of batches(['left'], 1)) {
    expect(side).toBe('left');
    for (const messages of conversations) expect(messages).toHaveLength(2);
  }
  for (const { side } of batches()) expect(side).toBeNull();
});

test('is where the bugs live often enough', () => {
  const seen = batches(['left', 'right']).flatMap(multimodalLabels);
  for (const label of ['images', 'several images in a row', 'a row without images beside one with'])
    expect(seen.filter((each) => each === label).length, label).toBeGreaterThan(50);
});
