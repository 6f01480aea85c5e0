// What of a command line is for the shards, and what does not go together.
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { addRayOptions, bytes, rayComplaint } from '../../../src/cli/ray/options.ts';
import { passedOptions } from '../../../src/cli/ray/passed.ts';
import { makeWorld } from '../world.ts';

function command(...words: readonly string[]): Command {
  const made = addRayOptions(new Command('check'))
    .option('--only <ids>', '', (value, before: readonly string[] = []) => [...before, value])
    .option('--cases <n>', '', Number)
    .option('--no-corpus', '')
    .option('--strict', '')
    .option('--known <file>', '')
    .option('--html <file>', '')
    .option('--quiet', '')
    .option('--seed <n>', '', Number);
  return made.parse([...words], { from: 'user' });
}

describe('what a shard is told', () => {
  const passed = (...words: string[]): readonly string[] =>
    passedOptions(command(...words), '/home/me/here', '/home/me');

  test('what was typed and is of any run, as it was typed', () => {
    const words = ['--only', 'mask', '--only', 'kl,gae/*', '--cases', '5', '--no-corpus', '--strict'];
    expect(passed(...words)).toEqual(words);
  });

  test('nothing of the cluster, of outputs, or of the screen', () => {
    expect(
      passed('--ray', 'auto', '--shards', '3', '--html', 'a.html', '--quiet', '--gpus-per-worker', '1'),
    ).toEqual([]);
  });

  test.each([
    ['known.json', 'known.json'],
    ['/home/me/here/known.json', 'known.json'],
    ['../known.json', '../known.json'],
    ['../../you/known.json', '/home/you/known.json'],
  ])('a file %s is %s there', (typed, there) => {
    expect(passed('--known', typed)).toEqual(['--known', there]);
  });
});

describe('what does not go together', () => {
  test.each([
    [
      ['--shards', '3'],
      '--shards is of --ray ADDRESS, the cluster to run on; a single shard is run by --shard 1/8',
    ],
    [['--retries', '0'], '--retries is of --ray ADDRESS, the cluster to run on'],
    [['--ray-env', 'env.json'], '--ray-env is of --ray ADDRESS, the cluster to run on'],
  ])('%j', async (words, problem) => {
    const world = makeWorld();
    expect(await world.run('check', '--bundled', ...words)).toBe(2);
    expect(world.err()).toBe(`lossproof: ${problem}\n`);
  });

  test.each([
    ['shard', '--shard'],
    ['workers', '--workers'],
    ['resume', '--resume'],
    ['updateKnown', '--update-known'],
    ['maxTime', '--max-time'],
    ['bail', '--bail'],
  ])('--ray with %s', (other, flag) => {
    expect(rayComplaint({ ray: 'auto' }, { [other]: '1/3' })?.problem).toContain(flag);
    expect(rayComplaint({ ray: 'auto' }, { [other]: undefined })).toBeUndefined();
  });

  test.each([
    ['--shards', '0'],
    ['--retries', '-1'],
    ['--cpus-per-worker', 'many'],
    ['--memory-per-worker', '3 apples'],
  ])('%s %s', async (option, value) => {
    const world = makeWorld();
    expect(await world.run('check', '--bundled', '--ray', 'auto', option, value)).toBe(2);
    expect(world.err()).toMatch(new RegExp(`^lossproof: .*${option}.* must be a`));
  });
});

test.each([
  ['16GiB', 16 * 2 ** 30],
  ['16g', 16 * 2 ** 30],
  ['512 MB', 512 * 2 ** 20],
  ['1.5T', 1.5 * 2 ** 40],
  ['4096', 4096],
  ['4096B', 4096],
])('%s is %i bytes', (text, size) => {
  expect(bytes(text)).toBe(size);
});
