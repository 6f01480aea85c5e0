// `gap` as it is typed: what it reads, what it says, what it exits with.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { type Planted, rolloutsWith } from '../../gap/model.ts';
import { bf16 } from '../../gap/noise.ts';
import { both, otherWeights, shifted } from '../../gap/planted.ts';
import { makeWorld } from '../world.ts';

const NOISE: Planted = { engine: bf16, trainer: bf16 };
const SHIFT: Planted = { ...NOISE, recorded: shifted(1) };

function rowsOf(planted: Planted): object[] {
  return rolloutsWith(planted, { seed: 21, rows: 60, length: 30 }).map(
    ({ prompt, ids, sampling, trainer }) => ({
      prompt_ids: prompt,
      completion_ids: ids,
      rollout_log_probs: [...sampling],
      old_log_probs: [...trainer],
    }),
  );
}
const linesOf = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

describe('gap', () => {
  test('exits 0 on noise, with its size and the measures that frameworks log', async () => {
    const world = makeWorld();
    world.write('rollouts.jsonl', linesOf(rowsOf(NOISE)));
    expect(await world.run('gap', 'rollouts.jsonl')).toBe(0);
    expect(world.out()).toMatch(/✓ Noise: an RMS gap of 0\.0\d+ is bf16 rounding/);
    expect(world.out()).toMatch(/ESS +100 % of tokens/);
    expect(world.out()).toContain('sampling rollout_log_probs, trainer old_log_probs');
    expect(world.out()).toMatch(
      /bias, no correction +[\d.]+ % of the weight is on the wrong tokens, balanced/,
    );
    expect(world.out()).toContain('All measures are in the healthy ranges.');
  });

  test('exits 1 where a cause predicts the gap, names it, and says what decides', async () => {
    const world = makeWorld();
    world.write('rollouts.jsonl', linesOf(rowsOf(SHIFT)));
    expect(await world.run('gap', 'rollouts.jsonl')).toBe(1);
    expect(world.out()).toMatch(/✗ shift {2}\d+ % of the gap/);
    expect(world.out()).toContain('To decide: compare trainer[:-1] with sampling[1:] of one row by hand');
  });

  test('exits 2 where neither noise nor a cause explains it', async () => {
    const world = makeWorld();
    world.write('rollouts.jsonl', linesOf(rowsOf({ ...NOISE, trainer: both(otherWeights(0.95), bf16) })));
    expect(await world.run('gap', 'rollouts.jsonl')).toBe(2);
    expect(world.out()).toContain('? No verdict');
  });

  test('keeps to 80 columns', async () => {
    for (const planted of [NOISE, SHIFT]) {
      const world = makeWorld(undefined, { columns: 80 });
      world.write('rollouts.jsonl', linesOf(rowsOf(planted)));
      await world.run('gap', 'rollouts.jsonl');
      expect(
        world
          .out()
          .split('\n')
          .filter((line) => line.length > 80),
      ).toEqual([]);
    }
  });

  test('--json has the verdict, the causes and the measures', async () => {
    const world = makeWorld();
    world.write('rollouts.jsonl', linesOf(rowsOf(SHIFT)));
    expect(await world.run('gap', 'rollouts.jsonl', '--json')).toBe(1);
    expect(JSON.parse(world.out())).toMatchObject({
      verdict: 'cause',
      causes: [{ cause: 'shift', parameters: { shift: 1 } }],
      rows: 60,
      fields: { sampling: 'rollout_log_probs', trainer: 'old_log_probs' },
      left_out: { rows: 0, first: null },
      training: {
        healthy: expect.arrayContaining([
          expect.objectContaining({ measure: 'mean_weight', least: 0.5, most: 2, is_healthy: false }),
        ]),
        bias: [{ correction: 'none' }, { correction: 'TIS' }, { correction: 'IcePop' }],
      },
    });
  });

  test('takes several files, packed ones, and fields that are named', async () => {
    const world = makeWorld();
    const rows = rowsOf(NOISE);
    world.write('one.jsonl', linesOf(rows.slice(0, 30)));
    writeFileSync(join(world.folder, 'two.jsonl.gz'), gzipSync(linesOf(rows.slice(30))));
    expect(await world.run('gap', 'one.jsonl', 'two.jsonl.gz', '--trainer', 'old_log_probs')).toBe(0);
    expect(world.out()).toContain('60 rows');
    expect(await world.run('gap', 'one.jsonl', '--trainer', 'mine')).toBe(2);
    expect(world.err()).toContain('none of 30 rows can be compared. The first: one.jsonl row 1: no log-prob');
  });

  test('leaves out rows that cannot be compared, says so, and calls nothing noise then', async () => {
    const world = makeWorld();
    const [first, ...others] = rowsOf(NOISE);
    const bad = JSON.stringify({ ...first, old_log_probs: ['x'] }).replace('["x"]', '[NaN]');
    world.write('rollouts.jsonl', `${bad}\n${linesOf(others)}`);
    expect(await world.run('gap', 'rollouts.jsonl')).toBe(2);
    expect(world.err()).toMatch(
      /1 row left out, the first because rollouts\.jsonl row 1: old_log_probs has 1 values/,
    );
  });

  test.each<[string, string, string]>([
    ['no rows', '', 'no rows'],
    ['rows without ids', '{"prompt": "a", "completion": "b"}', 'no ids of the completion'],
    [
      'NaN as Python writes it',
      '{"completion_ids": [1], "logprobs": [NaN], "old_log_probs": [-1]}',
      'logprobs at completion token 0 is NaN',
    ],
    [
      'too few rows',
      '{"completion_ids": [1], "logprobs": [-1], "old_log_probs": [-1]}',
      'at least 20 rows and 400 tokens',
    ],
  ])('exits 2 on %s', async (_, content, words) => {
    const world = makeWorld();
    world.write('rollouts.jsonl', content);
    expect(await world.run('gap', 'rollouts.jsonl')).toBe(2);
    expect(world.err()).toContain(words);
    expect(world.err().trim().split('\n')).toHaveLength(1);
  });

  test('reads Parquet', async () => {
    const world = makeWorld();
    copyFileSync(
      join(PACKAGE_ROOT, 'test', 'view', 'parquet', 'ids.parquet'),
      join(world.folder, 'a.parquet'),
    );
    expect(await world.run('gap', 'a.parquet')).toBe(2);
    expect(world.err()).toContain('rows can be compared. The first: a.parquet row 1');
  });

  test('--html writes a page, with the text of tokens from --tokenizer', async () => {
    const world = makeWorld();
    world.write('rollouts.jsonl', linesOf(rowsOf(SHIFT)));
    const page = (): string => readFileSync(join(world.folder, 'gap.html'), 'utf8');
    expect(await world.run('gap', 'rollouts.jsonl', '--html', 'gap.html')).toBe(1);
    expect(page()).toContain('shift explains');
    expect(page()).toMatch(/<th scope="row">rollouts\.jsonl row \d+<\/th>/);
    const folder = familyFolder('qwen');
    expect(await world.run('gap', 'rollouts.jsonl', '--html', 'gap.html', '--tokenizer', folder)).toBe(1);
    expect(page()).toContain('Token, after');
  });

  test('--html and --tokenizer are looked at before the rows are read', async () => {
    const world = makeWorld();
    expect(await world.run('gap', 'none.jsonl', '--html', 'no/gap.html')).toBe(2);
    expect(world.err()).toContain('--html: no/gap.html cannot be written: there is no folder');
    expect(await world.run('gap', 'none.jsonl', '--tokenizer', 'nowhere')).toBe(2);
    expect(world.err()).toContain('nowhere');
  });
});
