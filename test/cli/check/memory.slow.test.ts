// Workers and the memory of this machine, through the whole command: how many are started.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { roomHere } from '../../../src/cli/trainer/memory.ts';
import { ADDS_NOTHING, DROPS_NOTHING, makeWorld, pythonCollate, type World } from '../world.ts';

const FOUR = [DROPS_NOTHING, ADDS_NOTHING].flatMap((property) => [
  { ...property, level: 'must' as const },
  { ...property, level: 'must' as const, id: `${property.id}-again` },
]);
const ADAPTER = ['--', 'python3', 'adapter.py'];

/** Each process leaves a file, and answers nothing before there are `least`: who has not begun when all is judged is not waited for. */
function worldOfFour(least = 1): World {
  const world = makeWorld(FOUR);
  const meets = `
import glob, os, time
open(f"pid-{os.getpid()}", "w").close()
def met():
    until = time.monotonic() + 60
    while len(glob.glob("pid-*")) < ${least} and time.monotonic() < until: time.sleep(0.01)
`;
  world.write('adapter.py', pythonCollate('(met(), rows)[1]', meets));
  return world;
}

const started = (world: World): number =>
  readdirSync(world.folder).filter((name) => name.startsWith('pid-')).length;

/** Of which so many fit. */
const shareOf = (many: number): string => `${Math.floor(roomHere().bytes / many)}B`;

test('as many as fit, and the numbers are told', async () => {
  const world = worldOfFour(2);
  const words = ['--op-timeout', '90', '--workers', '3', '--memory-per-worker', shareOf(2)];
  expect(await world.run('check', ...words, ...ADAPTER), world.both()).toBe(0);
  expect(world.out().replaceAll(/\s+/g, ' ')).toMatch(
    /! 3 workers of [\d.]+ GiB do not fit into the [\d.]+ GiB (of this machine|that its control group allows this process): 2 are started/,
  );
  expect(started(world)).toBe(2);
});

test('GPUs are dealt out to those that fit', async () => {
  const world = worldOfFour();
  const context = { ...world.context, env: { CUDA_VISIBLE_DEVICES: '0,1' } };
  const words = ['--workers', '3', '--gpus-per-worker', '1', '--memory-per-worker', shareOf(2)];
  expect(await runProgram(['check', ...words, ...ADAPTER], context), world.both()).toBe(0);
});

test('where not even one fits, nothing is started', async () => {
  const world = worldOfFour();
  expect(await world.run('check', '--workers', '2', '--memory-per-worker', '90TiB', ...ADAPTER)).toBe(2);
  expect(world.err()).toMatch(
    /^lossproof: not even one worker of --memory-per-worker 92160 GiB fits into the [^\n]+; say less, or leave it out\n$/,
  );
  expect(started(world)).toBe(0);
});

test('without workers it is of nothing', async () => {
  const world = worldOfFour();
  expect(await world.run('check', '--memory-per-worker', '4GiB', ...ADAPTER)).toBe(2);
  expect(world.err()).toBe(
    'lossproof: --memory-per-worker is of --ray ADDRESS, the cluster to run on, or of --workers N on this machine\n',
  );
});
