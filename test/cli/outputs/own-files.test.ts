// Our own folder as a stranger, another tool or the trainer itself leaves it: no verdict is lost over it, no run ends as a defect, and
// nothing that a link points to is touched.
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorld, pythonCollate, type World } from '../world.ts';

const OWN = '.lossproof';
const LAST_RUN = 'last-run.ndjson';
const PLACES = ['history.json', LAST_RUN, '.gitignore', `${LAST_RUN}.lock`];

/** Of every case. */
const WRONG = '[[id + 1 for id in row] for row in rows]';

const check = (world: World, ...words: readonly string[]): Promise<number> =>
  world.run('check', '--cases', '20', '--shrink-time', '1', ...words, '--', 'python3', 'adapter.py');

function worldWith(place: string, lay: (path: string, world: World) => void, wrong: boolean): World {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(wrong ? WRONG : 'rows'));
  world.write('precious', 'mine');
  mkdirSync(join(world.folder, OWN));
  lay(join(world.folder, OWN, place), world);
  return world;
}

test.each(PLACES)('a link at %s is not written through', async (place) => {
  const world = worldWith(place, (path) => symlinkSync('../precious', path), false);
  expect(await check(world)).toBe(0);
  expect(readFileSync(join(world.folder, 'precious'), 'utf8')).toBe('mine');
});

test.each(PLACES)('a link to nothing at %s makes no file elsewhere', async (place) => {
  const world = worldWith(place, (path) => symlinkSync('../made', path), false);
  expect(await check(world)).toBe(0);
  expect(existsSync(join(world.folder, 'made'))).toBe(false);
});

test.each(PLACES)('a folder at %s costs no verdict', async (place) => {
  const world = worldWith(place, (path) => mkdirSync(join(path, 'full'), { recursive: true }), false);
  expect(await check(world)).toBe(0);
  expect(world.both()).not.toContain('defect');
});

test('a folder in the place of a lock is named, and --events is refused', async () => {
  const world = worldWith(`${LAST_RUN}.lock`, (path) => mkdirSync(path), false);
  await check(world);
  expect(world.err()).toContain('a folder stands where the lock should be; delete ');
  mkdirSync(join(world.folder, 'events.lock'));
  expect(await check(world, '--events', 'events')).toBe(2);
  expect(world.err()).toContain(
    '--events: events cannot be locked: a folder stands where the lock should be',
  );
});

test('a file that the user named by a link is written where it is', async () => {
  const world = worldWith('none', () => {}, false);
  symlinkSync('precious', join(world.folder, 'events'));
  expect(await check(world, '--events', 'events')).toBe(0);
  expect(lstatSync(join(world.folder, 'events')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(world.folder, 'precious'), 'utf8')).toContain('"run-end"');
});

/** What a trainer does to the folder before its first answer. */
const CHANGES: Readonly<Record<string, string>> = {
  'becomes a file': `shutil.rmtree(own); open(own, "w").write("mine")`,
  'is removed': `shutil.rmtree(own)`,
  'becomes a link to itself': `shutil.rmtree(own); os.symlink(own, own)`,
  'becomes a link to where no folder can be made': `shutil.rmtree(own); os.symlink("/proc/self", own)`,
  'gets folders in the place of files': `
for name in ["history.json", "${LAST_RUN}", "${LAST_RUN}.lock"]:
    path = os.path.join(own, name)
    if os.path.exists(path): os.remove(path)
    os.mkdir(path)`,
};

test.each(Object.keys(CHANGES))('.lossproof %s in the middle of a run', async (how) => {
  const world = makeWorld();
  const code = pythonCollate(WRONG);
  // At the first request after hello: the run has begun to write by then.
  const change = `\nimport os, shutil\nown = "${OWN}"\n${CHANGES[how]}`;
  const indented = change.replaceAll('\n', '\n            ');
  world.write(
    'adapter.py',
    code
      .replace('for line in sys.stdin:', 'done = False\nfor line in sys.stdin:')
      .replace('    else:\n', `    else:\n        if not done:\n            done = True${indented}\n`),
  );
  expect(await check(world), world.both()).toBe(1);
  expect(world.both()).not.toContain('defect');
  if (how.includes('link')) {
    expect(world.both()).toContain('could not be saved');
    expect(world.out()).not.toMatch(/lossproof replay \w{6}/);
  }
});
