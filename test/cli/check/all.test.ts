// `check --all`: several trainers of one configuration, one after the other, as one report and one exit code.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runNames } from '../../../src/report/runs.ts';
import { pythonCollate, type World } from '../world.ts';
import { check, GOOD, lastRuns, worldOf } from './shared/of-all.ts';

const BAD = { trainer: 'python3 bad.py' };
const SIDE = { trainer: 'python3 side.py {side}' };
const SIDES = { side: ['left', 'right'] };

const OPTIONS = { html: '--html', xml: '--junit', ndjson: '--events', sarif: '--sarif', md: '--markdown' };

/** `--html r.html` and its like. */
const reportsTo = (...extensions: readonly (keyof typeof OPTIONS)[]): readonly string[] =>
  extensions.flatMap((extension) => [OPTIONS[extension], `r.${extension}`]);

/** The lines of the summary, without numbers of seconds. */
function summaryOf(world: World): readonly string[] {
  const lines = world.out().trimEnd().split('\n');
  const at = lines.findLastIndex((line) => /^\d+ runs · seed/.test(line));
  return lines.slice(at).map((line) => line.replace(/[\d.]+ (?:ms|s)$/, 'TIME'));
}

test('every combination runs, and is a run of its own in every output', async () => {
  const world = worldOf({ trainers: { good: GOOD, side: SIDE }, matrix: SIDES });
  expect(await check(world, '--all', ...reportsTo('html', 'xml', 'ndjson'))).toBe(1);
  const names = ['good', 'side · side left', 'side · side right'];
  expect(runNames(lastRuns(world))).toEqual(names);
  expect(lastRuns(world).map(({ end }) => end?.interrupted)).toEqual([false, false, false]);
  expect(new Set(lastRuns(world).map(({ start }) => start.seed))).toEqual(new Set([7]));
  expect(readFileSync(join(world.folder, 'r.ndjson'), 'utf8')).toContain('"name":"side · side right"');
  const page = readFileSync(join(world.folder, 'r.html'), 'utf8');
  for (const name of names) expect(page).toContain(`<th scope="col" class="run">${name}</th>`);
  const suites = [...readFileSync(join(world.folder, 'r.xml'), 'utf8').matchAll(/<testsuite name="(.*?)"/g)];
  expect(suites.map(([, name]) => name)).toEqual(names);
  expect(world.out()).toContain('good is not varied by side: {side} stands nowhere in its description');
  expect(summaryOf(world)).toEqual([
    '3 runs · seed 7',
    '✓ good: 1 property: 1 holds · seed 7 · TIME',
    '✓ side · side left: 1 property: 1 holds · seed 7 · TIME',
    '✗ side · side right: 1 property: 1 fails · seed 7 · TIME',
  ]);
  // Drawn again by its name, on any machine with the configuration.
  expect(world.out()).toContain("npx lossproof replay --trainer 'side · side right'");
});

test('all hold: the exit code is 0, and a failing one turns it into 1 wherever it stands', async () => {
  const world = worldOf({ trainers: { good: GOOD, other: GOOD } });
  expect(await check(world, '--all')).toBe(0);
  for (const trainers of [
    { a: BAD, b: GOOD },
    { a: GOOD, b: BAD },
  ])
    expect(await check(worldOf({ trainers }), '--all', '--quiet')).toBe(1);
});

test('--trainer runs those that it names, and no others', async () => {
  const world = worldOf({ trainers: { good: GOOD, side: SIDE }, matrix: SIDES });
  expect(await check(world, '--trainer', 'good', '--trainer', '*left')).toBe(0);
  expect(runNames(lastRuns(world))).toEqual(['good', 'side · side left']);
  expect(await check(world, '--trainer', 'side · side right')).toBe(1);
  expect(runNames(lastRuns(world))).toEqual(['side · side right']);
});

test('what is excluded does not run', async () => {
  const world = worldOf({
    trainers: { side: SIDE, good: GOOD },
    matrix: SIDES,
    exclude: [{ side: 'right' }],
  });
  expect(await check(world, '--all')).toBe(0);
  expect(runNames(lastRuns(world))).toEqual(['side · side left', 'good']);
});

test('each has its own configuration: semantics, cases, known failures', async () => {
  const known = { 'collate/drops-nothing': { reason: 'lived with' } };
  const world = worldOf({
    trainers: {
      bad: { ...BAD, known: 'known-bad.json' },
      good: { ...GOOD, cases: 7, semantics: { kl_estimator: 'k3' } },
    },
  });
  world.write('known-bad.json', JSON.stringify(known));
  expect(await check(world, '--all')).toBe(0);
  const [bad, good] = lastRuns(world);
  expect(bad?.results.map(({ verdict }) => verdict)).toEqual(['known']);
  expect(good?.results.map(({ verdict }) => verdict)).toEqual(['pass']);
  expect([bad?.start.cases, good?.start.cases]).toEqual([40, 7]);
  expect([bad?.start.configured, good?.start.configured]).toEqual([undefined, { kl_estimator: 'k3' }]);
});

test('one that does not start is told in every report, and the others run', async () => {
  const world = worldOf({ trainers: { none: { trainer: 'python3 no-such-file.py' }, good: GOOD } });
  expect(await check(world, '--all', ...reportsTo('html', 'xml', 'sarif', 'md'), '--badge', 'b.json')).toBe(
    2,
  );
  const [none, good] = lastRuns(world);
  expect(none?.end?.noVerdict).toContain('python3 no-such-file.py did not start');
  expect(good?.results.map(({ verdict }) => verdict)).toEqual(['pass']);
  const [head, first, second] = summaryOf(world);
  expect(head).toBe('2 runs · seed 7');
  expect(first).toMatch(
    /^■ none: not run · python3 no-such-file\.py did not start: The trainer exited with code 2 before/,
  );
  expect(second).toMatch(/^✓ good: /);
  const read = (name: string): string => readFileSync(join(world.folder, name), 'utf8');
  expect(read('r.html')).toMatch(/<strong>Not run\.<\/strong> python3 no-such-file\.py did not start/);
  expect(read('r.html')).toMatch(/2 runs: nothing fails, 1 was not run/);
  expect(read('r.html')).toContain('<td class="dim">not run</td>');
  expect(read('r.xml')).toMatch(/<testsuite name="none" tests="2" failures="0" errors="1" skipped="1"/);
  const [cut] = (
    JSON.parse(read('r.sarif')) as { runs: { invocations: { executionSuccessful: boolean }[] }[] }
  ).runs;
  expect(cut?.invocations[0]?.executionSuccessful).toBe(false);
  expect(read('b.json')).toContain('interrupted, 1 hold');
  expect(read('r.md')).toContain('did not start');
});

test('one that fails is worse than one without a verdict', async () => {
  const world = worldOf({ trainers: { none: { trainer: 'python3 no-such-file.py' }, bad: BAD } });
  expect(await check(world, '--all')).toBe(1);
});

test('Ctrl-C ends all of it: the rest is named as not run', async () => {
  const world = worldOf(
    { trainers: { first: GOOD, slow: { trainer: 'python3 slow.py' }, last: GOOD } },
    {
      onWrite(both, { interrupt }) {
        if (!interrupted && /checking tiny[\s\S]*checking tiny/.test(both)) {
          interrupted = true;
          interrupt();
        }
      },
    },
  );
  let interrupted = false;
  world.write('slow.py', pythonCollate('rows', 'import time; time.sleep(0.2)'));
  expect(await check(world, '--all')).toBe(130);
  expect(runNames(lastRuns(world))).toEqual(['first', 'slow', 'last']);
  expect(lastRuns(world).map(({ end }) => end?.interrupted)).toEqual([false, true, true]);
  expect(summaryOf(world).at(-1)).toBe('■ last: not run · The check was interrupted before it.');
});

test('--bail ends the whole of it', async () => {
  const world = worldOf({ trainers: { bad: BAD, good: GOOD } });
  expect(await check(world, '--all', '--bail')).toBe(1);
  expect(summaryOf(world).at(-1)).toBe('■ good: not run · --bail ended the check before it.');
});

test('--max-time is for all of them together: nobody is started once it is over, and that is no pass', async () => {
  const world = worldOf({ trainers: { a: GOOD, b: GOOD } });
  expect(await check(world, '--all', '--max-time', '0.000001')).toBe(2);
  const words = 'not run · The time of --max-time was over before it.';
  expect(summaryOf(world).slice(1)).toEqual([`■ a: ${words}`, `■ b: ${words}`]);
  expect(await check(world, '--all', '--max-time', '600')).toBe(0);
});

test('a report that cannot be kept turns 0 into 2, once', async () => {
  const world = worldOf({ trainers: { a: GOOD, b: GOOD } });
  expect(await check(world, '--all', '--workers', '2', '--html', 'r.html')).toBe(0);
  expect(await check(world, '--all', '--html', 'no/such/folder/r.html')).toBe(2);
  expect(world.err().match(/r\.html/g)).toHaveLength(1);
});

test.each([
  [
    ['--all', '--trainer', 'a'],
    '--all means every trainer of the configuration, and --trainer some; say one of them',
  ],
  [
    ['--all', '--', 'python3', 'good.py'],
    '--all means the trainers of the configuration; leave it out, or type no command after --',
  ],
  [
    ['--all', '--shard', '1/2', '--seed', '1'],
    '--shard is a part of one run, and several trainers are meant; name one by --trainer',
  ],
  [
    ['--all', '--resume'],
    '--resume goes on with one run, and several trainers are meant; name one by --trainer',
  ],
  [
    ['--all', '--update-known', '--known', 'k.json'],
    '--update-known would write one file for several trainers; give each a `known` of its own, or name one by --trainer',
  ],
])('%j is refused', async (argv, says) => {
  const world = worldOf({ trainers: { a: GOOD, b: GOOD } });
  expect(await world.run('check', ...argv)).toBe(2);
  expect(world.err().split('\n').at(-2)).toBe(`lossproof: ${says}`);
  expect(existsSync(join(world.folder, '.lossproof'))).toBe(false);
});

test('what is wrong with one of them is said of it, before any begins', async () => {
  const world = worldOf({ trainers: { a: GOOD, b: { ...GOOD, only: 'msk' } } });
  expect(await check(world, '--all')).toBe(2);
  expect(world.err()).toMatch(/^lossproof: b: no property is called "msk"/m);
  expect(existsSync(join(world.folder, '.lossproof'))).toBe(false);
});

test('--update-known writes the file of each', async () => {
  const world = worldOf({
    trainers: { bad: { ...BAD, known: 'known-bad.json' }, good: { ...GOOD, known: 'known-good.json' } },
  });
  expect(await check(world, '--all', '--update-known')).toBe(0);
  expect(readFileSync(join(world.folder, 'known-bad.json'), 'utf8')).toContain('collate/drops-nothing');
  expect(existsSync(join(world.folder, 'known-good.json'))).toBe(false);
});

test('a part of one of them is merged by its name', async () => {
  const world = worldOf({ trainers: { good: GOOD, bad: BAD } });
  for (const part of ['1/2', '2/2']) expect(await check(world, '--trainer', 'good', '--shard', part)).toBe(0);
  expect(await world.run('merge')).toBe(0);
  expect(runNames(lastRuns(world))).toEqual(['good']);
  expect(await check(world, '--trainer', 'bad', '--shard', '1/2')).toBe(1);
  expect(await world.run('merge')).toBe(2);
  expect(world.err()).toContain('another trainer');
});
