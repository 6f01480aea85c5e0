import fc from 'fast-check';
import { expect, it } from 'vitest';
import { logitBatch, logitLabels } from '../../../src/index.ts';

const drawn = (holes: boolean) =>
  fc.sample(logitBatch({ temperatures: false, holes }), { seed: 1, numRuns: 300 });
const trained = (rows: ReturnType<typeof drawn>[number]['rows']): number[] =>
  rows.map(({ prompt, tokens }) => tokens.slice(prompt).filter(({ ignored }) => !ignored).length);

it('leaves some rows without a label and no batch', () => {
  const counts = drawn(true).map(({ rows }) => trained(rows));
  expect(counts.every((rows) => rows.some((count) => count > 0))).toBe(true);
  expect(counts.filter((rows) => rows.includes(0)).length).toBeGreaterThan(30);
});

it('labels what it draws', () => {
  const labels = drawn(true).flatMap(logitLabels);
  expect(labels).toContain('labels with holes');
  expect(labels).toContain('a row without labels');
  expect(drawn(false).flatMap(logitLabels)).not.toContain('labels with holes');
});
