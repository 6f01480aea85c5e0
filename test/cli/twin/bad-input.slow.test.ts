// Scripts that cannot be compared, or that do what they had better not: one sentence each, and nothing is lost unsaid.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runsOf, twin, twinWorld } from './twin.ts';

const NOT_TWICE = 'the script is not the same twice, so that nothing else can be compared with it';

describe('draws that are others in each run', () => {
  test.each([
    ['urandom', 'The weights differ before the first step: 2 of 2 tensors, most of all'],
    ['clock', 'The weights differ before the first step: 2 of 2 tensors, most of all'],
    ['own-generator', 'Step 0 trains other rows: 4 only in the first run, 4 only in the second.'],
  ])('%s: the first place is named, and nothing else is compared', async (draws, told) => {
    const { code, out } = await twin([], `--draws ${draws}`);
    expect(out).toContain(`✗ repeat the runs part ${told}`);
    expect(out).toContain(NOT_TWICE);
    expect(out).not.toContain('padding');
    expect(code).toBe(2);
  });

  test('are looked for before a change is blamed that was named alone', async () => {
    const { code, out } = await twin(['--change', 'padding'], '--draws urandom');
    expect(out).toContain('✗ repeat the runs part');
    expect(out).not.toContain('✗ padding');
    expect(code).toBe(2);
  });

  test('without a seed, they are the same all the same', async () => {
    const { code, out } = await twin(['--change', 'repeat,padding'], '--draws unseeded');
    expect(out).toContain('✓ repeat the same to the last bit');
    expect(code).toBe(0);
  });
});

describe('a run that fails', () => {
  test('for the second time only: which one, how, and what it said', async () => {
    const { code, out } = await twin([], '--dies second');
    expect(out).toContain(
      'lossproof: the script failed in its second run, base-rounding, and not in its first (exit code 3): FileExistsError: out is there; it may find what the first one left',
    );
    expect(out).toContain('| Traceback (most recent call last): | FileExistsError: out is there');
    expect(code).toBe(2);
  });

  test('with a change that nobody named: it says why, and costs no verdict', async () => {
    const { code, out } = await twin([], '--dies padding');
    expect(out).toContain(
      '· padding not compared With the change the script failed (exit code 3): FileExistsError: out is there.',
    );
    expect(out).toContain('2 changes agree; not compared: padding.');
    expect(code).toBe(0);
  });

  test('for want of a network', async () => {
    const world = twinWorld();
    world.write('load.py', 'import urllib.request\nurllib.request.urlopen("http://hub.invalid/model")\n');
    expect(await world.run('twin', '--', 'python3', 'load.py')).toBe(2);
    expect(world.err()).toContain(
      'lossproof: the script failed by itself in the run base (exit code 1): URLError',
    );
    expect(world.err()).toContain('; it could not reach hub.invalid; run it where there is a network');
  });

  test('for want of files that it may not download', async () => {
    const world = twinWorld({ env: { HF_HUB_OFFLINE: '1' } });
    world.write('load.py', 'raise OSError("model is not in the cache, and the mode is offline")\n');
    expect(await world.run('twin', '--', 'python3', 'load.py')).toBe(2);
    expect(world.err()).toContain(
      'and the mode is offline; HF_HUB_OFFLINE is set, so that nothing is downloaded',
    );
  });

  test('keeps all that it wrote', async () => {
    const world = twinWorld();
    world.write('load.py', 'print("before")\nraise ValueError("\\x1b[2J" + "x" * 5000)\n');
    expect(await world.run('twin', '--', 'python3', 'load.py')).toBe(2);
    const [folder = ''] = runsOf(world);
    expect(readFileSync(join(folder, 'base', 'stdout.txt'), 'utf8')).toBe('before\n');
    expect(readFileSync(join(folder, 'base', 'stderr.txt'), 'utf8')).toContain('x'.repeat(5000));
    expect(world.err()).not.toContain('\u001b');
    expect(world.err().length).toBeLessThan(2000);
  });
});

describe('a script without a step', () => {
  test.each([
    ['pass', 'none of its processes imported torch'],
    ['import torch', 'no training of a language model was seen'],
  ])('%s', async (line, told) => {
    const world = twinWorld();
    world.write('torch.py', '');
    world.write('train.py', `${line}\n`);
    expect(await world.run('twin', '--', 'python3', 'train.py')).toBe(2);
    expect(world.err()).toContain(
      `lossproof: the script ended without a step of an optimiser, so that nothing can be compared: ${told}`,
    );
  });

  test('that calls a model', async () => {
    const { code, out } = await twin([], '--steps 1 --dies never-steps');
    expect(out).toContain('4 rows went through a model, and no optimiser made a step');
    expect(code).toBe(2);
  });
});

describe('files of the working folder', () => {
  test('that each run writes again are named, and those of the user apart', async () => {
    const world = twinWorld();
    world.write('mine.txt', 'of the user');
    const { code, out } = await twin(['--change', 'repeat'], '--writes mine.txt,log.txt', world);
    expect(out).toContain('The runs changed files that were there before: mine.txt.');
    expect(out).toContain('Each run wrote over files of the run before: log.txt.');
    expect(out).toContain('write {run} in the arguments of the script');
    expect(code).toBe(0);
  });

  test('of a folder for each run: nothing to say, and each has its own', async () => {
    const world = twinWorld();
    const { out } = await twin(['--change', 'repeat'], '--writes {run}/log.txt', world);
    expect(out).not.toContain('wrote over');
    const [folder = ''] = runsOf(world);
    for (const run of ['base', 'repeat']) expect(existsSync(join(folder, run, 'log.txt'))).toBe(true);
    expect(existsSync(join(world.folder, '{run}'))).toBe(false);
  });

  test('are in the JSON', async () => {
    const world = twinWorld();
    const words = ['--change', 'repeat', '--', 'python3', 'train.py', '--writes', 'log.txt'];
    expect(await world.run('twin', '--json', ...words)).toBe(0);
    expect(JSON.parse(world.out())).toMatchObject({ changed_files: [], overwritten_files: ['log.txt'] });
  });
});
