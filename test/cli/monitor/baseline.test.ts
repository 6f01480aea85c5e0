// `monitor --baseline` as it is typed: what is found beside healthy runs, what is refused as a baseline, and the table of
// several runs.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../src/report/text/visible.ts';
import { makeWorld, type World, type WorldOptions } from '../world.ts';

interface Sketch {
  /** The loss by step, from 1. */
  readonly loss?: (step: number) => number | string;
  readonly more?: (step: number) => object;
  readonly config?: object;
  readonly seed?: number;
}

const healthy = (step: number): number => 0.94 + 0.58 * Math.exp(-step / 12);
const shuffled = (step: number): number => 5.75 + 9.5 * Math.exp(-step / 10);

/** A folder of metrics.jsonl a run. */
function worldOf(runs: Readonly<Record<string, Sketch>>, options: WorldOptions = {}): World {
  const world = makeWorld([], options);
  for (const [name, { loss = healthy, more, config, seed = 1 }] of Object.entries(runs)) {
    mkdirSync(join(world.folder, name), { recursive: true });
    const rows = Array.from({ length: 60 }, (_, at) => {
      const wave = 1 + 0.04 * Math.sin((at + seed * 7) * 12.9898);
      const value = loss(at + 1);
      return {
        step: at + 1,
        loss: typeof value === 'number' ? value * wave : value,
        grad_norm: 0.5 * wave,
        ...more?.(at + 1),
      };
    });
    const lines = [...(config === undefined ? [] : [{ config }]), ...rows].map((row) => JSON.stringify(row));
    world.write(`${name}/metrics.jsonl`, `${lines.join('\n')}\n`.replaceAll('"NaN"', 'NaN'));
  }
  return world;
}

const BESIDE = ['--baseline', 'good1', '--baseline', 'good2', '--only', '*-beside-baseline'];
const GOOD = { good1: { seed: 1 }, good2: { seed: 2 } } as const;

describe('beside healthy runs', () => {
  test('another seed holds, and shuffled labels fail with both numbers', async () => {
    const world = worldOf({ ...GOOD, new: { seed: 3 }, bad: { seed: 4, loss: shuffled } });
    expect(await world.run('monitor', 'new', ...BESIDE), world.both()).toBe(0);
    expect(await world.run('monitor', 'bad', ...BESIDE)).toBe(1);
    expect(world.out()).toMatch(/✗ monitor\/loss-start-beside-baseline/);
    expect(world.out().replaceAll(/\s+/g, ' ')).toMatch(
      /loss begins at 1\d\.\d \(median of 5 from step 1 on\); 2 baselines are at 1\.\d+/,
    );
    expect(world.out()).toContain('--baseline good1 --baseline good2');
  });

  test('the configuration names them; without any, their rules are not in the run, and alone are asked for one', async () => {
    const world = worldOf({ ...GOOD, bad: { loss: shuffled } });
    expect(await world.run('monitor', 'bad')).toBe(0);
    expect(world.out()).not.toContain('baseline');
    expect(await world.run('monitor', 'bad', '--only', 'loss-beside-baseline')).toBe(2);
    expect(world.err()).toContain('judges beside a healthy run: --baseline PATH names one');
    world.write('lossproof.config.json', JSON.stringify({ monitor: { paths: 'bad', baseline: ['good1'] } }));
    expect(await world.run('monitor'), world.both()).toBe(1);
  });

  test('the page has all runs in one plot', async () => {
    const world = worldOf({ ...GOOD, bad: { loss: shuffled } });
    await world.run('monitor', 'bad', ...BESIDE, '--html', 'r.html');
    const page = readFileSync(join(world.folder, 'r.html'), 'utf8');
    expect(page).toContain('Beside each other');
    expect(page.match(/class="curve healthy" data-name/g)).toHaveLength(4);
  });
});

describe('as a baseline is refused', () => {
  const REWARDS = { more: (step: number) => ({ reward: step / 100, reward_std: 0.1 }) };
  const PASSES = (steps: number) => ({ more: (step: number) => ({ 'train/epoch': step / steps }) });
  test.each([
    [
      'another kind of run',
      { new: {}, good: REWARDS },
      'one is supervised training, the other reinforcement learning',
    ],
    [
      'another model',
      {
        new: { config: { model_name_or_path: '/data/Small-1B' } },
        good: { config: { model_name_or_path: 'org/Large-7B' } },
      },
      'one declares the model Small-1B, the other Large-7B',
    ],
    [
      'another data set',
      { new: { config: { dataset_name: 'org/maths' } }, good: { config: { dataset_name: 'org/poems' } } },
      'one declares the data set maths, the other poems',
    ],
    [
      'a data set of another size',
      {
        new: { ...PASSES(10), config: { per_device_train_batch_size: 8 } },
        good: { ...PASSES(137), config: { per_device_train_batch_size: 8 } },
      },
      'a pass over the data is about 80 rows in one and 1,096 in the other',
    ],
    [
      'a run that is not healthy itself',
      { new: {}, good: { loss: (step: number) => (step > 30 ? 'NaN' : 1) } },
      'good/metrics.jsonl is not healthy itself, monitor/finite-training fails',
    ],
    [
      'nothing that is known',
      { new: {}, good: { loss: () => 'none', more: () => ({ grad_norm: 'none', my: 1 }) } },
      'no series with a known name was found there',
    ],
    ['nothing', { new: {} }, '--baseline good: good does not exist'],
  ] as const)('%s', async (_, runs, said) => {
    const world = worldOf(runs);
    expect(await world.run('monitor', 'new', '--baseline', 'good'), world.both()).toBe(2);
    expect(world.err()).toContain(said);
    expect(world.err().trimEnd().split('\n')).toHaveLength(1);
    expect(world.out()).toBe('');
  });

  test.each([
    ['the same model elsewhere', { config: { model_name_or_path: '/mnt/Small-1B/' } }],
    [
      'accumulation that is not declared',
      { more: (step: number) => ({ 'train/epoch': step / 20 }), config: { per_device_train_batch_size: 4 } },
    ],
    ['a loss that begins elsewhere', { loss: shuffled }],
  ] as const)('but not for %s', async (_, sketch) => {
    const good = {
      more: (step: number) => ({ 'train/epoch': step / 40 }),
      config: { model_name_or_path: 'org/small-1b', per_device_train_batch_size: 4 },
    };
    const world = worldOf({ new: sketch, good });
    expect(await world.run('monitor', 'new', '--baseline', 'good'), world.err()).not.toBe(2);
  });
});

describe('several runs', () => {
  test('are ranked in one table, which fits', async () => {
    const evaluated = (loss: (step: number) => number) => (step: number) =>
      step % 10 === 0 ? { eval_loss: loss(step) } : {};
    const runs = {
      'runs/a-long-name-of-a-sweep-over-rates-and-schedules/lr-1e-5': { more: evaluated(healthy) },
      'runs/a-long-name-of-a-sweep-over-rates-and-schedules/lr-1e-3': {
        loss: shuffled,
        more: evaluated(shuffled),
      },
      good: { more: evaluated(healthy), seed: 5 },
    };
    const world = worldOf(runs, { isTty: true, columns: 80, env: { NO_COLOR: '1' } });
    expect(await world.run('monitor', 'runs', '--baseline', 'good')).toBe(1);
    const lines = world.out().split('\n');
    const from = lines.findIndex((line) => line.startsWith('beside each other, by the best evaluation loss'));
    const table = lines.slice(from + 1, from + 5);
    expect(table[0]).toMatch(/^ {2}run +steps +start +best +end +eval +grad +wrong$/);
    expect(table[1]).toMatch(/lr-1e-5.*|good/);
    expect(table[3]).toMatch(/lr-1e-3 +60 +1\d\.\d+ .* \d$/);
    for (const line of table) expect(widthOf(line), line).toBeLessThanOrEqual(80);
    expect(table.join('\n')).toMatch(/good .* baseline$/m);
  });

  test('one alone has no table', async () => {
    const world = worldOf({ new: {} });
    await world.run('monitor', 'new');
    expect(world.out()).not.toContain('beside each other');
  });
});
