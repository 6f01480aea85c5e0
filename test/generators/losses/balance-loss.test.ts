import fc from 'fast-check';
import { expect, test } from 'vitest';
import { routedBatch, routing, routingLabels } from '../../../src/index.ts';

const RUNS = { numRuns: 300, seed: 5 };

test('every token has logits of all layers, no two of one layer alike, and an expert that it does not go to', () => {
  fc.assert(
    fc.property(routing(), ({ rows, layers, experts, topK, pad }) => {
      expect(topK).toBeLessThan(experts);
      for (const logits of [pad, ...rows.flatMap(({ tokens }) => tokens)]) {
        expect(logits.length).toBe(layers * experts);
        for (let first = 0; first < logits.length; first += experts)
          expect(new Set(logits.slice(first, first + experts)).size).toBe(experts);
      }
    }),
    RUNS,
  );
});

test('rows stand flush with either side of their rectangle, and micro-batches have as many rows each', () => {
  fc.assert(
    fc.property(routing({ minRows: 2 }), (drawn) => {
      const { router_logits: logits, attention_mask: mask, micro_batches: parts } = routedBatch(drawn);
      for (const [at, { tokens, side }] of drawn.rows.entries()) {
        const row = (logits[at] ?? []).filter((_, column) => mask[at]?.[column] === 1);
        expect(row).toEqual(tokens);
        expect(mask[at]?.at(side === 'left' ? -1 : 0)).toBe(1);
      }
      expect(parts.flat()).toEqual(drawn.rows.map((_, row) => row));
      expect(new Set(parts.map(({ length }) => length)).size).toBe(1);
    }),
    RUNS,
  );
});

test('layers, choices and rows are several in many cases', () => {
  const labels = fc.sample(routing(), RUNS).map(routingLabels);
  for (const label of ['several rows', 'unequal rows', 'several layers', 'several choices'])
    expect(labels.filter((all) => all.includes(label)).length).toBeGreaterThan(RUNS.numRuns / 3);
});
