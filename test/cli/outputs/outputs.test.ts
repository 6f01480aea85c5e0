import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { makeWorld, pythonCollate, WRONG } from '../world.ts';

const RUN = ['check', '--seed', '7', '--only', 'collate'];
const TRAINER = ['--', 'python3', 'adapter.py'];

function worldWith(rows = 'rows') {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(rows));
  return { ...world, read: (name: string) => readFileSync(join(world.folder, name), 'utf8') };
}

test('every output is written, and each is of its kind', async () => {
  const world = worldWith(WRONG);
  const files = ['html', 'junit', 'findings', 'events', 'sarif', 'badge', 'markdown'].flatMap((name) => [
    `--${name}`,
    `out.${name}`,
  ]);
  expect(await world.run(...RUN, ...files, ...TRAINER)).toBe(1);
  expect(world.read('out.html')).toMatch(/^<!doctype html>/);
  expect(world.read('out.junit')).toMatch(/^<\?xml /);
  expect(JSON.parse(world.read('out.sarif'))).toHaveProperty('runs');
  expect(JSON.parse(world.read('out.badge'))).toMatchObject({ schemaVersion: 1, label: 'lossproof: tiny' });
  expect(world.read('out.markdown')).toContain('collate/drops-nothing');
  expect(world.read('out.events')).toBe(world.read('.lossproof/last-run.ndjson'));
  expect(world.err()).toBe('');
});

test('the last run is kept beside the cases, also where no case is', async () => {
  const world = worldWith();
  await world.run(...RUN, ...TRAINER);
  expect(readdirSync(join(world.folder, '.lossproof')).sort()).toEqual([
    '.gitignore',
    'history.json',
    'last-run.ndjson',
  ]);
  expect(world.read('.lossproof/.gitignore')).toBe(
    '/last-run.ndjson\n/last-run.ndjson.lock\n/history.json\n/shards/\n/mutate/\n',
  );
  expect(world.read('.lossproof/last-run.ndjson')).toMatch(/^{"type":"run-start",.*"started":"[\dT:.-]+Z"/);
  world.write('lossproof.config.json', '{"corpus": false}');
  await world.run(...RUN, '--seed', '8', ...TRAINER);
  expect(world.read('.lossproof/last-run.ndjson')).toContain('"seed":8');
});

test('a trainer that does not start leaves the last run and every report as they were', async () => {
  const world = worldWith();
  await world.run(...RUN, '--events', 'e.ndjson', '--html', 'r.html', ...TRAINER);
  const before = ['.lossproof/last-run.ndjson', 'e.ndjson', 'r.html'].map(world.read);
  world.write('adapter.py', 'raise SystemExit(1)');
  expect(await world.run(...RUN, '--events', 'e.ndjson', '--html', 'r.html', ...TRAINER)).toBe(2);
  expect(['.lossproof/last-run.ndjson', 'e.ndjson', 'r.html'].map(world.read)).toEqual(before);
});

test.each([
  [
    ['--html', 'nowhere/r.html'],
    /^lossproof: --html: nowhere\/r\.html cannot be written: there is no folder .*nowhere$/,
  ],
  [['--junit', '.'], /^lossproof: --junit: \. is a folder$/],
  [
    ['--events', 'nowhere/e'],
    /^lossproof: --events: nowhere\/e cannot be written: there is no folder .*nowhere$/,
  ],
  [['--html', '-'], /^lossproof: standard output has the table of the run; name a file instead of -$/],
  [['--badge', ''], /^lossproof: --badge: {2}needs a name$/],
  [['--html', 'a', '--junit', './a'], /^lossproof: --html and --junit name the same file, \.\/a$/],
])('a wrong path %j is said before the trainer starts', async (words, sentence) => {
  const world = worldWith();
  expect(await world.run(...RUN, ...words, '--', 'no-such-program')).toBe(2);
  expect(world.err().trimEnd()).toMatch(sentence);
  expect(readdirSync(world.folder)).toEqual(['adapter.py']);
});

test('an output that cannot be written turns 0 into 2, and 1 stays 1', async () => {
  const full = '/dev/full';
  if (!existsSync(full)) return;
  const good = worldWith();
  expect(await good.run(...RUN, '--junit', full, '--html', 'r.html', ...TRAINER)).toBe(2);
  expect(good.err()).toMatch(/^lossproof: --junit: \/dev\/full cannot be written: ENOSPC/);
  expect(existsSync(join(good.folder, 'r.html'))).toBe(true);
  const bad = worldWith(WRONG);
  expect(await bad.run(...RUN, '--junit', full, ...TRAINER)).toBe(1);
});

test('events that cannot be written are said once, and the run goes on', async () => {
  if (!existsSync('/dev/full')) return;
  const world = worldWith();
  expect(await world.run(...RUN, '--events', '/dev/full', ...TRAINER)).toBe(2);
  expect(world.err()).toMatch(/^lossproof: --events: \/dev\/full cannot be written: ENOSPC[^\n]*\n$/);
  expect(world.out()).toContain('1 property: 1 holds');
});

test('where the last run cannot be kept the check says so, and its verdict stands', async () => {
  const world = worldWith();
  mkdirSync(join(world.folder, '.lossproof/last-run.ndjson'), { recursive: true });
  expect(await world.run(...RUN, ...TRAINER)).toBe(0);
  expect(world.err()).toMatch(/^lossproof: \.lossproof\/last-run\.ndjson cannot be written: [^\n]*\n$/);
  expect(readdirSync(join(world.folder, '.lossproof')).sort()).toEqual([
    '.gitignore',
    'history.json',
    'last-run.ndjson',
  ]);
});

test('a link is written through, and a special file is never replaced', async () => {
  const world = worldWith();
  mkdirSync(join(world.folder, 'reports'));
  symlinkSync('reports/real.html', join(world.folder, 'r.html'));
  world.write('reports/real.html', 'old');
  expect(await world.run(...RUN, '--html', 'r.html', '--junit', '/dev/null', ...TRAINER)).toBe(0);
  expect(readlinkSync(join(world.folder, 'r.html'))).toBe('reports/real.html');
  expect(world.read('reports/real.html')).toMatch(/^<!doctype html>/);
  expect(readdirSync(join(world.folder, 'reports'))).toEqual(['real.html']);
  expect(statSync('/dev/null').isFile()).toBe(false);
});

test('an interrupted run writes its reports', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate('rows', 'import time; time.sleep(0.2)'));
  const running = world.run('check', '--cases', '20000', '--html', 'r.html', '--junit', 'j.xml', ...TRAINER);
  const poll = setInterval(() => {
    if (!world.out().includes('checking tiny')) return;
    clearInterval(poll);
    world.interrupt();
  }, 5);
  expect(await running).toBe(130);
  expect(readFileSync(join(world.folder, 'r.html'), 'utf8')).toContain('nterrupted');
  expect(readFileSync(join(world.folder, 'j.xml'), 'utf8')).toContain('nterrupted');
});

test('in GitHub Actions a failure is an annotation, and the summary is appended', async () => {
  const world = worldWith(WRONG);
  const summary = world.write('summary.md', 'before\n');
  Object.assign(world.context.env, { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary });
  expect(await world.run(...RUN, ...TRAINER)).toBe(1);
  expect(world.out()).toMatch(/^::error /m);
  expect(world.read('summary.md')).toMatch(/^before\n[\s\S]*collate\/drops-nothing/);
});

test('--no-annotations is neither annotation nor summary', async () => {
  const world = worldWith(WRONG);
  const summary = world.write('summary.md', 'before\n');
  Object.assign(world.context.env, { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary });
  expect(await world.run(...RUN, '--no-annotations', ...TRAINER)).toBe(1);
  expect(world.out()).not.toContain('::error');
  expect(world.read('summary.md')).toBe('before\n');
});

test('a step summary that cannot be written changes nothing but is said', async () => {
  const world = worldWith();
  Object.assign(world.context.env, { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: world.folder });
  expect(await world.run(...RUN, ...TRAINER)).toBe(0);
  expect(world.err()).toMatch(/^lossproof: the step summary cannot be written: EISDIR/);
});

test('on a terminal a failing run ends with where to see it as a page', async () => {
  const hint = 'npx lossproof report   shows this as a page\n';
  const world = worldWith(WRONG);
  Object.assign(world.context.out, { isTty: true });
  await world.run(...RUN, '--quiet', ...TRAINER);
  expect(world.out()).not.toContain('npx lossproof report ');
  for (const more of [[], ['--no-corpus']]) {
    await world.run(...RUN, ...more, ...TRAINER);
    expect(stripVTControlCharacters(world.out()).endsWith(hint)).toBe(true);
  }
});

test('a file that may not be written over is refused beforehand', async () => {
  const world = worldWith();
  const file = world.write('r.html', 'mine');
  chmodSync(file, 0o444);
  // Nothing is forbidden to root.
  if (process.getuid?.() === 0) return;
  expect(await world.run(...RUN, '--html', 'r.html', ...TRAINER)).toBe(2);
  expect(world.read('r.html')).toBe('mine');
});
