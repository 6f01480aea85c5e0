import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventLine } from '../../../src/report/machine/ndjson.ts';
import { failure, result, runStart } from '../../report/results.ts';
import { makeWorld, pythonCollate, WRONG } from '../world.ts';

const START = eventLine(runStart(['a/b']));
const PASSES = eventLine({ type: 'property-end', result: result({ id: 'a/b' }) });
const FAILS = eventLine({
  type: 'property-end',
  result: result({ id: 'a/b', verdict: 'fail', failure: failure() }),
});
const END = eventLine({ type: 'run-end', interrupted: false, milliseconds: 1_234 });

test('without a file it is the last run, as a page', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(WRONG));
  await world.run('check', '--seed', '7', '--level', 'must', '--', 'python3', 'adapter.py');
  const before = world.out().length;
  expect(await world.run('report')).toBe(0);
  expect(world.out().slice(before)).toMatch(
    /^tiny · 1 property: 1 fails · seed 7 · [^\n]*\nwrote lossproof-report\.html\n$/,
  );
  expect(readFileSync(join(world.folder, 'lossproof-report.html'), 'utf8')).toContain(
    'collate/drops-nothing',
  );
});

test('several files become columns of one report, in their order', async () => {
  const world = makeWorld();
  world.write('before.ndjson', START + FAILS + END);
  world.write('after.ndjson', START + PASSES + END);
  const words = ['report', 'before.ndjson', 'after.ndjson'];
  expect(await world.run(...words, '--html', 'r.html', '--events', 'both.ndjson')).toBe(0);
  expect(world.out()).toBe(
    [
      'my-trainer 0.4 (1) · 1 property: 1 fails · seed 1836021 · 1.2 s',
      'my-trainer 0.4 (2) · 1 property: 1 holds · seed 1836021 · 1.2 s',
      'wrote r.html, both.ndjson\n',
    ].join('\n'),
  );
  expect(existsSync(join(world.folder, 'lossproof-report.html'))).toBe(false);
  expect(readFileSync(join(world.folder, 'both.ndjson'), 'utf8')).toBe(
    START + FAILS + END + START + PASSES + END,
  );
  expect(await world.run('report', 'both.ndjson', '--html', 'again.html')).toBe(0);
  expect(readFileSync(join(world.folder, 'again.html'), 'utf8')).toBe(
    readFileSync(join(world.folder, 'r.html'), 'utf8'),
  );
});

test('--help shows examples', async () => {
  const world = makeWorld();
  expect(await world.run('report', '--help')).toBe(0);
  expect(world.out()).toContain('Examples:\n  npx lossproof report');
});

test('a run that was killed is shown as far as it came', async () => {
  const world = makeWorld();
  world.write('run.ndjson', START + FAILS + END.slice(0, 12));
  expect(await world.run('report', 'run.ndjson', '--markdown', 'm.md')).toBe(0);
  expect(world.out()).toContain(
    '1 property: 1 fails · seed 1836021 · 120 ms · the run has not ended: 1 of 1\n',
  );
  expect(world.err()).toBe('');
});

test('bad lines are said, and the rest is shown', async () => {
  const world = makeWorld();
  world.write('run.ndjson', `${START}oops\n${PASSES}${END}`);
  expect(await world.run('report', 'run.ndjson')).toBe(0);
  expect(world.err()).toBe('lossproof: run.ndjson: line 2 is no JSON; it is left out\n');
});

test.each([
  [
    ['report'],
    '.lossproof/last-run.ndjson cannot be read: no run is remembered here; `npx lossproof check` writes it, or name a file of --events',
  ],
  [['report', 'nope.ndjson'], 'nope.ndjson cannot be read: there is no such file'],
  [['report', 'good.ndjson', 'folder'], 'folder cannot be read: it is a folder; name the files in it'],
  [
    ['report', 'text.txt'],
    'text.txt: these are not the events of a lossproof run: none of the lines begins one',
  ],
  [['report', 'empty.ndjson'], 'empty.ndjson is empty: no run has begun to write it'],
  [['report', 'good.ndjson', '--port', '8000'], '--port is of --serve'],
  [
    ['report', '--serve', '--port', '70000'],
    "option '--port <n>' argument '70000' is invalid. It must be a whole number from 0 to 65535.",
  ],
  [
    ['report', '--serve', 'text.txt'],
    'text.txt: these are not the events of a lossproof run: none of the lines begins one',
  ],
  [['report', '--serve', '-'], '--serve follows files; standard input cannot be read twice'],
  [['report', '--serve', '--html', 'r.html'], '--serve writes no files; run report once more for them'],
  [['report', 'good.ndjson', '--htlm', 'r.html'], 'unknown option \'--htlm\', did you mean "--html"?'],
])('lossproof %j is refused in one line', async (argv, line) => {
  const world = makeWorld();
  world.write('good.ndjson', START + PASSES + END);
  world.write('text.txt', 'Dear diary,\ntoday nothing happened.\n');
  world.write('empty.ndjson', '');
  mkdirSync(join(world.folder, 'folder'));
  expect(await world.run(...argv)).toBe(2);
  expect(world.err()).toBe(`lossproof: ${line}\n`);
  expect(world.out()).toBe('');
  expect(readdirSync(world.folder).filter((name) => name.endsWith('.html'))).toEqual([]);
});

test('an output named - goes to standard output alone', async () => {
  const world = makeWorld();
  world.write('run.ndjson', START + PASSES + END);
  expect(await world.run('report', 'run.ndjson', '--events', '-')).toBe(0);
  expect(world.out()).toBe(START + PASSES + END);
  expect(world.err()).toBe('my-trainer 0.4 · 1 property: 1 holds · seed 1836021 · 1.2 s\n');
  expect(readdirSync(world.folder)).toEqual(['run.ndjson']);
});

test('a page that cannot be written is said, and exits 2', async () => {
  if (!existsSync('/dev/full')) return;
  const world = makeWorld();
  world.write('run.ndjson', START + PASSES + END);
  expect(await world.run('report', 'run.ndjson', '--html', '/dev/full')).toBe(2);
  expect(world.err()).toMatch(/^lossproof: --html: \/dev\/full cannot be written: ENOSPC/);
  expect(world.out()).not.toContain('wrote');
});

test('--open hands the page to the opener of the system, and says where there is none', async () => {
  const world = makeWorld();
  world.write('run.ndjson', START + PASSES + END);
  Object.assign(world.context.env, { PATH: world.folder });
  expect(await world.run('report', 'run.ndjson', '--open')).toBe(0);
  expect(world.err()).toMatch(
    /^lossproof: no browser can be opened \(.*\); open file:\/\/\/.*lossproof-report\.html\n$/,
  );

  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const opened = join(world.folder, 'opened');
  chmodSync(world.write(opener, `#!/bin/sh\necho "$1" > '${opened}'\n`), 0o755);
  expect(await world.run('report', 'run.ndjson', '--junit', 'j.xml', '--open')).toBe(0);
  while (!existsSync(opened) || readFileSync(opened, 'utf8') === '') await sleep(10);
  const address = new URL(readFileSync(opened, 'utf8').trim());
  expect(existsSync(address)).toBe(true);
  expect(world.out()).toContain('wrote lossproof-report.html, j.xml');
});
