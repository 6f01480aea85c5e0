// Advantages over other groups than the completions of one prompt: told by sums of 0 in the wrong places, and by nothing else.
import { describe, expect, test } from 'vitest';
import type { LedgerSketch, TrainedRowSketch } from '../../traced.ts';
import { holds, judged, silent } from '../judged.ts';

const ID = 'trace/advantages-are-of-their-prompt';
const GROUPS = 3;
const SIZE = 4;
const COUNT = GROUPS * SIZE;
const rows = Array.from({ length: COUNT }, (_, row) => row);
/** Rewards that no two rows share, some prompts easier than others. */
const REWARDS = rows.map((row) => ((row * 7) % 11) / 10 + ([0.1, 1.3, 2.2][Math.floor(row / SIZE)] ?? 0));
const lengthOf = (row: number): number => 2 + ((row * 5) % 4);

type Groups = (row: number) => number;
const own: Groups = (row) => Math.floor(row / SIZE);

/** Less the mean of each group, over its deviation. */
function advantages(groupOf: Groups, { rewards = REWARDS, scaled = true } = {}): number[] {
  return rows.map((row) => {
    const mates = rows
      .filter((mate) => groupOf(mate) === groupOf(row))
      .map((mate) => rewards[mate] as number);
    const mean = mates.reduce((sum, each) => sum + each, 0) / mates.length;
    const std = Math.sqrt(mates.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (mates.length - 1));
    return ((rewards[row] as number) - mean) / (scaled ? std + 1e-4 : 1);
  });
}

interface Layout {
  readonly promptOf?: Groups;
  /** The weight of a token, by advantage and length. */
  readonly way?: (advantage: number, length: number) => number;
  readonly settings?: LedgerSketch['settings'];
}

function sketch(
  values: readonly number[],
  { promptOf = own, way = (a) => a / 40, settings }: Layout = {},
): LedgerSketch {
  const prompt = (row: number): number[] => [1, 10 + promptOf(row), 20];
  const completion = (row: number): number[] => [
    ...Array.from({ length: lengthOf(row) - 1 }, (_, t) => 30 + ((row * 3 + t) % 50)),
    2,
  ];
  return {
    rows: rows.map(
      (row): TrainedRowSketch => ({
        ids: [...prompt(row), ...completion(row)],
        prompt: 3,
        forward: 0,
        row,
        weight: way(values[row] as number, lengthOf(row)),
        spans: { origin: { kind: 'generation', generations: [row] } },
      }),
    ),
    generations: rows.map((row) => ({ promptIds: prompt(row), completionIds: completion(row) })),
    ...(settings === undefined ? {} : { settings }),
  };
}

const perRow = (advantage: number, length: number): number => advantage / (COUNT * length);
const tiled: Groups = (row) => row % GROUPS;

describe('advantages of other groups are told', () => {
  test.each<[string, number[], Layout, RegExp]>([
    ['every third row', advantages(tiled), {}, /over every 3rd row \(rows 0, 3, 6, 9/],
    [
      'the wrong axis: every fourth row',
      advantages((row) => row % SIZE),
      {},
      /over every 4th row \(rows 0, 4, 8, and/,
    ],
    ['every third row, in a mean over rows', advantages(tiled), { way: perRow }, /every 3rd row/],
    ['every third row, less the mean alone', advantages(tiled, { scaled: false }), {}, /every 3rd row/],
    ['every third row, beside a KL', advantages(tiled), { way: (a) => (a + 0.05) / 40 }, /every 3rd row/],
    [
      'neighbours, of prompts that are tiled',
      advantages(own),
      { promptOf: tiled },
      /over neighbouring rows \(rows 0, 1, 2, 3/,
    ],
    [
      'neighbours, one row on',
      advantages((row) => own((row + COUNT - 1) % COUNT)),
      {},
      /neighbouring rows, 1 on/,
    ],
  ])('%s', (_what, values, layout, says) => {
    const [finding] = judged(ID, sketch(values, layout)).findings;
    expect(finding?.sentence).toMatch(says);
    expect(finding?.note).toContain('repeat_interleave');
  });
});

describe('what is right, or may be meant, is not', () => {
  test.each<[string, number[], Layout]>([
    ['groups of one prompt', advantages(own), {}],
    ['groups of one prompt, in a mean over rows', advantages(own), { way: perRow }],
    ['groups of one prompt, beside a KL', advantages(own), { way: (a) => (a + 0.05) / 40 }],
    ['prompts that are tiled', advantages(tiled), { promptOf: tiled }],
    ['one mean for all', advantages(() => 0), {}],
    [
      'one mean for all, of rewards of 0 and 1',
      advantages(() => 0, { rewards: rows.map((row) => Number((row * 5) % 7 > 3)) }),
      {},
    ],
    ['values of a critic', REWARDS.map((reward, row) => reward - 1 - (row % 5) / 9), {}],
    ['no baseline', REWARDS, {}],
  ])('%s', (_what, values, layout) => {
    holds(ID, sketch(values, layout));
  });

  test('rows of several policies, of prompts with other counts, and few rows', () => {
    const all = sketch(advantages(tiled));
    silent(ID, { ...all, generations: (all.generations ?? []).map((each) => ({ ...each, step: -1 })) });
    silent(ID, { ...all, rows: (all.rows ?? []).slice(1) });
    silent(ID, { ...all, rows: (all.rows ?? []).slice(0, 4) });
  });
});

describe('another baseline is asked about', () => {
  const asked = (values: number[], settings?: LedgerSketch['settings']) =>
    judged(ID, sketch(values, settings === undefined ? {} : { settings })).notices?.[0];
  test('none, and the mean of the batch', () => {
    expect(asked(REWARDS)?.sentence).toMatch(/pushed up, though each prompt was sampled 4 times/);
    expect(asked(REWARDS)?.answers[0]).toBe('"advantage_baseline": "none"');
    expect(asked(advantages(() => 0))?.sentence).toMatch(/over all completions, and not over the 4/);
  });
  test('unless it is declared, or it is that of the prompt', () => {
    expect(asked(REWARDS, { semantics: { advantage_baseline: 'none' } })).toBeUndefined();
    expect(
      asked(
        advantages(() => 0),
        { semantics: { advantage_baseline: 'batch-mean' } },
      ),
    ).toBeUndefined();
    expect(asked(advantages(own))).toBeUndefined();
  });
});
