// `report` of pages: one page over those of other commands, with what each says and where it is.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventLine } from '../../../src/report/machine/ndjson.ts';
import { failure, result, runStart } from '../../report/results.ts';
import { makeWorld, type World } from '../world.ts';

const START = eventLine(runStart(['a/b']));
const END = eventLine({ type: 'run-end', interrupted: false, milliseconds: 1_234 });

/** A page of a run that fails, one that holds, in folders with signs that an address escapes. */
async function pages(): Promise<World> {
  const world = makeWorld();
  const results = {
    right: result({ id: 'a/b' }),
    wrong: result({ id: 'a/b', verdict: 'fail', failure: failure() }),
  };
  mkdirSync(join(world.folder, 'a & b#?'));
  for (const [name, each] of Object.entries(results)) {
    world.write('run.ndjson', START + eventLine({ type: 'property-end', result: each }) + END);
    await world.run('report', 'run.ndjson', '--html', `a & b#?/${name}.html`);
  }
  return world;
}
const PAGES = ['a & b#?/right.html', 'a & b#?/wrong.html'];

test('has a row for each, with its verdict, and an address that leads there', async () => {
  const world = await pages();
  const before = world.out().length;
  expect(await world.run('report', ...PAGES, '--html', 'index.html')).toBe(0);
  expect(world.out().slice(before)).toBe(
    [
      'a & b#?/right.html · ✓ 1 holds · my-trainer 0.4 · lossproof',
      'a & b#?/wrong.html · ✗ 1 fails · my-trainer 0.4 · lossproof',
      'wrote index.html, of 2 pages\n',
    ].join('\n'),
  );
  const index = readFileSync(join(world.folder, 'index.html'), 'utf8');
  expect(index).toContain('<h1 class="orange">2 pages: 1 has failures</h1>');
  expect([...index.matchAll(/<a href="([^"#]+)"/g)].map(([, href]) => href)).toEqual([
    'a%20%26%20b%23%3F/right.html',
    'a%20%26%20b%23%3F/wrong.html',
  ]);
  // Its own page is none of them, and where nothing fails it says so.
  expect(await world.run('report', 'index.html', PAGES[0] ?? '', '--html', 'index.html')).toBe(0);
  expect(readFileSync(join(world.folder, 'index.html'), 'utf8')).toContain('>1 page: none has failures</h1>');
});

test('goes to standard output, alone there', async () => {
  const world = await pages();
  const before = world.out().length;
  expect(await world.run('report', ...PAGES, '--html', '-')).toBe(0);
  expect(world.out().slice(before).split('\n')).toEqual(
    expect.arrayContaining(['<!doctype html>', '<h1 class="orange">2 pages: 1 has failures</h1>', '</html>']),
  );
  expect(world.err()).toContain('a & b#?/wrong.html · ✗ 1 fails');
});

test.each([
  [['run.ndjson'], 'run.ndjson is not an HTML page; name only pages, or only runs'],
  [['--junit', 'junit.xml'], '--junit needs runs; from pages only --html can be written'],
  [['foreign.html'], 'foreign.html was not written by lossproof; an index lists pages of --html'],
  [['gone.html'], 'gone.html cannot be read: ENOENT'],
  [['--html', 'no/index.html'], '--html: no/index.html cannot be written'],
])('%j beside pages is refused in a sentence', async (words, sentence) => {
  const world = await pages();
  world.write('foreign.html', '<title>lossproof</title>');
  expect(await world.run('report', ...PAGES, ...words)).toBe(2);
  expect(world.err()).toContain(`lossproof: ${sentence}`);
});

test('a run without a verdict is no run that holds', async () => {
  const world = await pages();
  world.write(
    'run.ndjson',
    START + eventLine({ type: 'run-end', interrupted: false, milliseconds: 1, noVerdict: 'nothing ran' }),
  );
  await world.run('report', 'run.ndjson', '--html', 'open.html');
  await world.run('report', PAGES[0] ?? '', 'open.html', '--html', 'index.html');
  expect(readFileSync(join(world.folder, 'index.html'), 'utf8')).toContain(
    '2 pages: none has failures, 1 has no verdict',
  );
});
