// The reference held to golden/papers (worked examples of papers, at 50 digits) and golden/torch (float64, autograd).
import { describe, expect, test } from 'vitest';
import { tolerance } from '../../src/reference/index.ts';
import type { DType } from '../../src/vocabulary.ts';
import { difference, roundsTo } from './compare.ts';
import { COMPUTATIONS, kernelKl, type TwoPolicies } from './computations.ts';
import { decoded, type Fields, type GoldenEntry, goldenFiles } from './files.ts';

const files = [...goldenFiles('papers'), ...goldenFiles('torch')];

describe.each(files)('golden/$name', ({ entries }) => {
  test.each(entries.map((entry) => [entry.id, entry] as const))('%s', (_, entry) => {
    expect(troubleOf(entry), entry.source).toBeUndefined();
  });
});

test('the row kernel comes to the KL of torch, too', async () => {
  const entries = files.flatMap((file) => file.entries).filter(({ compute }) => compute === 'full-kl');
  expect(entries.length).toBeGreaterThan(0);
  for (const { id, input, answer } of entries)
    expect(difference(await kernelKl(input as unknown as TwoPolicies), answer), id).toBeUndefined();
});

test('numbers that a source prints are what its formula comes to', () => {
  let compared = 0;
  for (const { id, printed, answer } of files.flatMap(({ entries }) => entries)) {
    for (const [path, text] of leaves(printed ?? {})) {
      const exact = path.reduce<unknown>((value, key) => (value as Fields)[key], answer);
      expect(roundsTo(Number(exact), String(text)), `${id}: ${path.join('.')}`).toBe(true);
      compared += 1;
    }
  }
  expect(compared).toBe(12);
});

describe('the golden numbers kill mutants', () => {
  const entryOf = (file: string, id: string): GoldenEntry => {
    const found = files.find(({ name }) => name === file)?.entries.find((each) => each.id === id);
    if (found === undefined) throw new Error(`golden/${file} has no ${id}`);
    return found;
  };

  test.each([
    ['papers/advantages.json', 'grpo-two-groups', { variant: { ddof: 1 } }],
    ['papers/advantages.json', 'rloo-two-groups', { variant: { baseline: 'group-mean' } }],
    ['papers/policy-loss.json', 'dapo', { settings: { clipHigh: 0.2 } }],
    ['papers/policy-loss.json', 'dr-grpo-objective', { settings: { aggregation: 'seq-mean-token-mean' } }],
    ['papers/policy-loss.json', 'grpo', { settings: { klCoef: 0.040001 } }],
    ['papers/policy-loss.json', 'gspo-clipped', { settings: { ratioLevel: 'token' } }],
    ['papers/gae.json', 'in-between', { lam: 0.9500001 }],
    ['papers/preference.json', 'robust-dpo', { settings: { smoothing: 'conservative' } }],
    ['papers/whitening.json', 'as-published', { epsilon: 1e-9 }],
    ['torch/policy-loss.json', 'dual-clip', { settings: { dualClip: 3 } }],
  ])('%s, %s: another convention differs', (file, id, change) => {
    const entry = entryOf(file, id);
    expect(troubleOf(entry)).toBeUndefined();
    expect(troubleOf({ ...entry, input: merged(entry.input, change) })).toBeDefined();
  });
});

test('an answer that is off by a part in a hundred thousand million, one that lacks a key, and an unknown function differ', () => {
  const [file] = files;
  const entry = file?.entries.find(({ id }) => id === 'grpo-half-right-ddof-1');
  if (entry === undefined) throw new Error('golden/papers has no grpo-half-right-ddof-1');
  const advantages = (decoded(entry.answer) as { advantages: number[] }).advantages;
  const off = advantages.map((value) => value * (1 + 1e-11));
  expect(troubleOf({ ...entry, answer: { advantages: off } })).toMatch(/answer\.advantages\.0/);
  expect(troubleOf({ ...entry, answer: { advantages, tokens: 4 } })).toMatch(/tokens/);
  expect(troubleOf({ ...entry, compute: 'no-such-function' })).toBeDefined();
});

// --- helpers ---

function troubleOf({ compute, input, answer, dtype }: GoldenEntry): string | undefined {
  const computed = COMPUTATIONS[compute]?.(decoded(input) as Fields);
  const band = dtype === undefined ? undefined : tolerance(dtype as DType);
  return difference(computed, decoded(answer), band);
}

function* leaves(value: unknown, path: readonly string[] = []): Generator<[readonly string[], unknown]> {
  if (typeof value !== 'object' || value === null) yield [path, value];
  else for (const [key, item] of Object.entries(value)) yield* leaves(item, [...path, key]);
}

function merged(value: Fields, change: Fields): Fields {
  const each = (own: unknown, other: unknown): unknown =>
    typeof other === 'object' && other !== null ? merged(own as Fields, other as Fields) : other;
  return {
    ...value,
    ...Object.fromEntries(Object.entries(change).map(([key, item]) => [key, each(value[key], item)])),
  };
}
