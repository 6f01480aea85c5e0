// A run in parts, merged into one verdict; a run that goes on after it was cut off; one that has little time. What is not
// all there, or does not belong together, is no verdict.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pythonCollate, type World, WRONG } from '../world.ts';
import { SEED, shard, TRAINER, worldWith } from './shared/in-parts.ts';

describe('merge', () => {
  test('the parts are one run, kept as the last one, with the exit code of the whole', async () => {
    const world = worldWith();
    for (const name of ['1/3', '2/3', '3/3']) expect(await shard(world, name)).toBe(0);
    expect(world.out()).toContain('no verdict before lossproof merge');
    expect(existsSync(join(world.folder, '.lossproof/last-run.ndjson'))).toBe(false);
    expect(await world.run('merge', '--junit', 'junit.xml')).toBe(0);
    expect(world.out()).toMatch(
      /4 properties: 4 hold · seed 7 · [^·]* · of 3 parts begun \S+Z( to \S+Z)?\n$/,
    );
    expect(readFileSync(join(world.folder, 'junit.xml'), 'utf8')).toContain('tests="4"');
    expect(await world.run('report', '--markdown', '-')).toBe(0);
    expect(world.out()).toContain('4 properties: 4 hold');
  });

  test('a failure in one part is the failure of all', async () => {
    const world = worldWith(pythonCollate(WRONG));
    const codes = [await shard(world, '1/2'), await shard(world, '2/2')];
    expect(codes).toContain(1);
    expect(
      await world.run('merge', '.lossproof/shards/2-of-2.ndjson', '.lossproof/shards/1-of-2.ndjson'),
    ).toBe(1);
    expect(world.out()).toContain('In row 0 the ids are others.');
  });

  test.each([
    [
      ['merge'],
      /^lossproof: no parts in \.lossproof\/shards: `check --shard i\/n` writes them, or name their files$/,
    ],
    [['merge', 'none.ndjson'], /^lossproof: none\.ndjson cannot be read: there is no such file$/],
    [['check', '--shard', '0/3', ...SEED, ...TRAINER], /The first of 3 parts is 1\/3, the last 3\/3/],
    [['check', '--shard', '4/3', ...SEED, ...TRAINER], /The first of 3 parts is 1\/3, the last 3\/3/],
    [['check', '--shard', '3', ...SEED, ...TRAINER], /It is i\/n: part i, from 1, of n, as 3\/8/],
    [['check', '--shard', '1/0', ...SEED, ...TRAINER], /It is i\/n/],
    [
      ['check', '--shard', '1/3', ...TRAINER],
      /--shard needs --seed: all parts of a run draw their cases from the same/,
    ],
  ])('%j is refused in a sentence', async (words, sentence) => {
    const world = worldWith();
    expect(await world.run(...words)).toBe(2);
    expect(world.err().trimEnd()).toMatch(sentence);
    expect(world.err().trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('--resume', () => {
  /** Cut off behind so many results, in the middle of a line. */
  function cutBehind(world: World, results: number, file = '.lossproof/last-run.ndjson'): void {
    const path = join(world.folder, file);
    const lines = readFileSync(path, 'utf8').split('\n');
    let left = results;
    const at = lines.findIndex((line) => line.includes('"property-end"') && left-- === 0);
    writeFileSync(path, `${lines.slice(0, at).join('\n')}\n${(lines[at] ?? '').slice(0, 20)}`);
  }

  test('what was judged stands, the rest is judged, and the file tells one whole run', async () => {
    const world = worldWith();
    await world.run('check', ...SEED, ...TRAINER);
    cutBehind(world, 2);
    expect(await world.run('check', '--resume', ...TRAINER)).toBe(0);
    expect(world.out()).toMatch(
      /going on with the run in \.lossproof\/last-run\.ndjson begun \S+: 2 verdicts of 4 stand/,
    );
    expect(world.out()).toMatch(/4 properties: 4 hold · seed 7/);
    const before = world.out();
    expect(await world.run('report', '--markdown', '-')).toBe(0);
    expect(world.out().slice(before.length)).toContain('4 properties: 4 hold · seed 7');
    expect(await world.run('check', '--resume', ...TRAINER)).toBe(2);
    expect(world.err()).toContain('came to its end; leave --resume out to begin another');
  });
});
