import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutExamples,
  cutLabels,
  cutPrompts,
  packedExamples,
  packLabels,
  promptLabels,
} from '../../../src/index.ts';

const RUNS = { seed: 1, numRuns: 300 };
const cut = fc.sample(cutExamples(undefined), RUNS);
const prompts = fc.sample(cutPrompts(undefined), RUNS);
const packed = fc.sample(packedExamples(undefined), RUNS);

const share = (all: readonly (readonly string[])[], label: string): number =>
  all.filter((labels) => labels.includes(label)).length / all.length;

describe('examples with a limit', () => {
  it('have one label a token, its own id or -100, and two tokens of room', () => {
    for (const { examples, limit } of [...cut, ...packed]) {
      expect(limit).toBeGreaterThanOrEqual(2);
      for (const { ids, labels } of examples) {
        expect(ids.length).toBeGreaterThan(0);
        expect(labels.length).toBe(ids.length);
        expect(labels.every((label, at) => label === -100 || label === ids[at])).toBe(true);
      }
    }
  });

  it('are too long, just fit, and lose all labels often enough', () => {
    const labels = cut.map(cutLabels);
    expect(share(labels, 'some rows are too long')).toBeGreaterThan(0.2);
    expect(share(labels, 'a row just fits')).toBeGreaterThan(0.2);
    expect(share(labels, 'one token too long')).toBeGreaterThan(0.2);
    expect(share(labels, 'all labels beyond the limit')).toBeGreaterThan(0.1);
    expect(share(labels, 'pad id inside a row')).toBeGreaterThan(0.1);
  });

  it('all fit where they are packed, into one row or several', () => {
    const labels = packed.map(packLabels);
    expect(packed.every(({ examples, limit }) => examples.every(({ ids }) => ids.length <= limit))).toBe(
      true,
    );
    expect(share(labels, 'all in one row')).toBeGreaterThan(0.1);
    expect(share(labels, 'several rows')).toBeGreaterThan(0.3);
    expect(share(labels, 'pad id ends an example')).toBeGreaterThan(0.1);
  });
});

it('prompts with a limit are too long and just fit often enough', () => {
  const labels = prompts.map(promptLabels);
  expect(share(labels, 'some prompts are too long')).toBeGreaterThan(0.2);
  expect(share(labels, 'a prompt just fits')).toBeGreaterThan(0.2);
  expect(share(labels, 'pad id inside a prompt')).toBeGreaterThan(0.1);
});
