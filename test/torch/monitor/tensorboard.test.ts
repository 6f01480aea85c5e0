// Logs as the libraries' own writers make them, compared with what the libraries' own readers read: TensorBoard's writer
// in torch, transformers' callback and trainer_state.json, W&B offline, and TRL's table of completions.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { memory, opened, readAll } from '../../monitor/read/memory.ts';

type ReadBack = Record<string, [step: number, value: number | string, time: number][]>;

interface Written {
  readonly read: Record<string, ReadBack>;
  /** Of transformers' own state: what it logged. */
  readonly history: readonly Record<string, number>[];
  /** Numbers of the fields of W&B's messages. */
  readonly fields: Record<string, Record<string, number>>;
}

const WORDS: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
};

let cwd = '';
let written: Written;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'lossproof logs '));
  const script = join(import.meta.dirname, 'tensorboard_logs.py');
  const python = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');
  const { stdout } = await execa(python, [script, cwd], { env: { OMP_NUM_THREADS: '1' } });
  written = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Written;
}, 300_000);

describe('event files', () => {
  test.each(['scalars', 'scalars/lines_a', 'scalars/lines_b', 'scalars/hparams', 'trainer/runs'])(
    'of %s have the points that TensorBoard reads itself, each with its step, value and time',
    async (root) => {
      const into = await readAll([join(root, 'events*')], { cwd });
      const expected = Object.entries(written.read[root] ?? {}).map(([tag, points]) => [
        `${root} ${tag}`,
        points.map(([step, value, time]) => [step, typeof value === 'string' ? WORDS[value] : value, time]),
      ]);
      expect(expected.length).toBeGreaterThan(0);
      expect(into.points).toEqual(Object.fromEntries(expected));
      expect(into.complaints).toEqual([]);
    },
  );

  test('declare what the hparams plugin and the text of transformers say of the run', async () => {
    expect((await readAll(['scalars/hparams'], { cwd })).declared).toEqual({
      lr: 0.1,
      size: 4,
      name: 'x',
      flag: 1, // torch takes True for a number
    });
    const { declared } = await readAll(['trainer/runs'], { cwd });
    expect(declared).toMatchObject({
      learning_rate: 0.01,
      max_steps: 4,
      warmup_steps: 1,
      per_device_train_batch_size: 2,
      'model_config/vocab_size': 16,
    });
  });

  test('cut at every byte of their last three records give no wrong point, and the rest once it has come', async () => {
    const name = readdirSync(join(cwd, 'scalars')).find((each) => each.includes('tfevents')) ?? '';
    const whole = readFileSync(join(cwd, 'scalars', name));
    const starts: number[] = [];
    for (let at = 0; at < whole.length; at += 16 + whole.readUInt32LE(at)) starts.push(at);
    const all = (await readAll([join('scalars', name)], { cwd })).points;
    const folder = mkdtempSync(join(tmpdir(), 'lossproof torn '));
    mkdirSync(join(folder, 'scalars'));
    for (let cut = starts.at(-3) ?? 0; cut <= whole.length; cut++) {
      const file = join(folder, 'scalars', name);

      writeFileSync(file, whole.subarray(0, cut));
      const source = opened(['scalars'], { cwd: folder, follow: true });
      const into = memory();
      await source.readAll(into);
      for (const [tag, points] of Object.entries(into.points))
        expect(all[tag]?.slice(0, points.length)).toEqual(points);
      writeFileSync(file, whole);
      expect(await source.poll(into)).toBe(cut < whole.length);
      expect(into.points).toEqual(all);
      expect(into.complaints).toEqual([]);
    }
  });
});

describe('transformers', () => {
  test('its trainer_state.json has the points that it logged, read from the last checkpoint only', async () => {
    const source = opened(['trainer/checkpoint-*'], { cwd });
    expect(source.files.map(({ path, run }) => [path, run])).toEqual([
      ['trainer/checkpoint-4/trainer_state.json', 'trainer'],
    ]);
    const into = memory();
    await source.readAll(into);
    const losses = written.history
      .filter(({ loss }) => loss !== undefined)
      .map(({ step, loss }) => [step, loss]);
    expect(losses).toHaveLength(4);
    expect(into.values('trainer loss')).toEqual(losses);
    expect(into.declared).toMatchObject({ max_steps: 4, global_step: 4 });
  });
});

describe('W&B', () => {
  test("an offline run has all rows at the trainer's step, and its settings", async () => {
    const source = opened(['wandb'], { cwd });
    expect(source.files.map(({ kind }) => kind)).toEqual(['W&B']);
    const into = memory();
    await source.readAll(into);
    const run = source.files[0]?.run;
    const steps = Array.from({ length: 300 }, (_, step) => step);
    expect(into.values(`${run} train/loss`)).toEqual(steps.map((step) => [2 * step, 1 / (step + 1)]));
    expect(into.values(`${run} nested/kl`)).toEqual(steps.map((step) => [2 * step, step]));
    expect(into.values(`${run} bad`)).toEqual(steps.map((step) => [2 * step, Number.NaN]));
    expect(into.values(`${run} last`)).toEqual([[300, 1]]);
    expect(Object.keys(into.points)).toHaveLength(4);
    expect(into.declared).toEqual({ lr: 0.1, 'nest/kind': 'adam', none: null });
    expect(into.complaints).toEqual([]);
  });

  test('its messages have the fields that are read', () => {
    expect(written.fields).toMatchObject({
      Record: { history: 2, config: 5, run: 17 },
      RunRecord: { config: 4 },
      HistoryRecord: { item: 1, step: 2 },
      HistoryStep: { num: 1 },
      HistoryItem: {
        key: 1,
        nested_key: 2,
        boolean: 4,
        integer: 5,
        number: 6,
        text: 7,
        json: 8,
        value_json: 16,
      },
      ConfigRecord: { update: 1 },
      ConfigItem: { key: 1, nested_key: 2, value_json: 16 },
    });
  });
});

describe('TRL', () => {
  test('its tables of completions are samples, in order of their steps, with row and file named', async () => {
    const { samples, complaints } = await readAll(['trl'], { cwd });
    expect(complaints).toEqual([]);
    expect(samples.map(({ step, completion }) => [step, completion])).toEqual([
      [5, '4'],
      [5, ''],
      [5, '!!!'],
      [10, '4'],
      [10, ''],
      [10, '!!!'],
    ]);
    expect(samples[2]).toMatchObject({
      where: 'trl/completions/completions_00005.parquet row 3',
      prompt: '奖励',
    });
    expect(samples[0]).toMatchObject({ advantage: 0.5 });
  });
});
