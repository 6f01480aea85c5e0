// Saved cases and folders as a stranger, an editor or a full disk leaves them: what is read is data, what cannot be run is
// named, and no verdict is lost over what cannot be written.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorld, pythonCollate, type World, WRONG } from '../world.ts';

const CASES = '.lossproof/cases';
const COMMAND = ['--', 'python3', 'adapter.py'];

/** A world with one saved case, and its id. */
async function withCase(): Promise<{ world: World; id: string }> {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(WRONG));
  expect(await check(world)).toBe(1);
  const id = /replay (\w+)/.exec(world.out())?.[1] ?? '';
  expect(readdirSync(join(world.folder, CASES))).toContain(`${id}.json`);
  return { world, id };
}

const check = (world: World): Promise<number> =>
  world.run('check', '--seed', '3', '--cases', '40', '--shrink-time', '5', ...COMMAND);

/** A case as it is saved, with other values. */
const edited = (world: World, id: string, values: object): string =>
  JSON.stringify({ ...JSON.parse(readFileSync(join(world.folder, CASES, `${id}.json`), 'utf8')), ...values });

test('an id is a name and no path: nothing outside the folder is removed', async () => {
  const { world, id } = await withCase();
  for (const name of ['precious.json', 'precious.ndjson']) world.write(name, 'mine');
  writeFileSync(join(world.folder, CASES, 'evil.json'), edited(world, id, { id: '../../precious' }));
  world.write('adapter.py', pythonCollate());
  expect(await check(world)).toBe(0);
  expect(readFileSync(join(world.folder, 'precious.json'), 'utf8')).toBe('mine');
  expect(readFileSync(join(world.folder, 'precious.ndjson'), 'utf8')).toBe('mine');
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain(
    'evil.json is no saved case: its id is "../../precious", expected letters and digits',
  );
});

test('a case under another name is named, and neither run nor removed', async () => {
  const { world, id } = await withCase();
  renameSync(join(world.folder, CASES, `${id}.json`), join(world.folder, CASES, 'mine.json'));
  world.write('adapter.py', pythonCollate());
  expect(await check(world)).toBe(0);
  expect(world.out()).not.toContain('+ fixed');
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain(
    `mine.json says that it is case ${id}; name it ${id}.json`,
  );
  expect(existsSync(join(world.folder, CASES, 'mine.json'))).toBe(true);
});

test.each([
  ['nothing in it', { given: {} }, 'given is an object, and every case drawn has a list there'],
  ['null', { given: null }, 'given is nothing, and every case drawn has a list there'],
  [
    'texts for numbers',
    { given: [['1']] },
    'given[0][0] is a text, and every case drawn has a whole number there',
  ],
  ['a number without end', { given: [[1e15]] }, 'given[0][0] is 1000000000000000, and no case drawn'],
  [
    'rows without end',
    { given: [Array.from({ length: 300_000 }, () => 1)] },
    'it is more than 64 times as large',
  ],
])('a case with %s is not handed to the property, and is named', async (_, values, sentence) => {
  const { world, id } = await withCase();
  writeFileSync(join(world.folder, CASES, `${id}.json`), edited(world, id, values));
  world.write('adapter.py', pythonCollate());
  expect(await check(world)).toBe(0);
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain(`- not judged ${id}: ${sentence}`);
  expect(await world.run('replay', id)).toBe(2);
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain(
    `! no longer valid ${id} collate/drops-nothing: ${sentence}`,
  );
});

test('a pipe, a folder, deep and torn JSON among the cases are named, and waited for by nobody', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  const cases = join(world.folder, CASES);
  mkdirSync(join(cases, 'folder.json'), { recursive: true });
  execFileSync('mkfifo', [join(cases, 'fifo.json')]);
  writeFileSync(join(cases, 'deep.json'), '['.repeat(100_000));
  writeFileSync(join(cases, 'torn.json'), '{"id":');
  expect(await check(world)).toBe(0);
  const said = world.out().replaceAll(/\s+/g, ' ');
  expect(said).toContain('fifo.json cannot be read: it is no file but a pipe or a device');
  expect(said).toContain('folder.json cannot be read: it is a folder');
  expect(said).toContain('deep.json cannot be read: nested deeper than 200 levels');
  expect(said).toContain('torn.json cannot be read: Unexpected end of JSON input');
  expect(readdirSync(cases).sort()).toEqual(['deep.json', 'fifo.json', 'folder.json', 'torn.json']);
});

test.each([
  ['.lossproof', (world: World) => world.write('.lossproof', 'mine')],
  [
    'its cases',
    (world: World) => {
      mkdirSync(join(world.folder, '.lossproof'));
      world.write(CASES, 'mine');
    },
  ],
])('where %s cannot be written the verdict stands, and is told in full', async (_, block) => {
  const world = makeWorld();
  block(world);
  world.write('adapter.py', pythonCollate(WRONG));
  expect(await check(world)).toBe(1);
  const said = world.out().replaceAll(/\s+/g, ' ');
  expect(said.match(/could not be saved/g)).toHaveLength(1);
  expect(said).toContain('the verdicts stand');
  expect(said).toMatch(/1 fails/);
  expect(readdirSync(world.folder, { recursive: true }).filter((name) => /tmp$/.test(String(name)))).toEqual(
    [],
  );
});

test('the command in a file from elsewhere is shown, and run only with --trust', async () => {
  const { world, id } = await withCase();
  const pwned = join(world.folder, 'PWNED');
  const command = `sh -c 'touch PWNED; exec python3 adapter.py' \u001b[2K`;
  world.write('shared.json', edited(world, id, { command }));
  expect(await world.run('replay', 'shared.json')).toBe(2);
  expect(world.err()).toContain(
    "shared.json asks for this command to be run: sh -c 'touch PWNED; exec python3",
  );
  expect(world.err()).toContain('--trust');
  expect(world.err()).not.toContain('\u001b');
  expect(existsSync(pwned)).toBe(false);
  expect(await world.run('replay', 'shared.json', ...COMMAND)).toBe(1);
  expect(existsSync(pwned)).toBe(false);
  expect(await world.run('replay', '--trust', 'shared.json')).toBe(1);
  expect(existsSync(pwned)).toBe(true);
});

test('a command that is known here needs no trust: of an own case, or of the configuration', async () => {
  const { world, id } = await withCase();
  world.write('copy.json', edited(world, id, {}));
  expect(await world.run('replay', 'copy.json')).toBe(1);
  const other = makeWorld();
  other.write('adapter.py', pythonCollate(WRONG));
  other.write('copy.json', readFileSync(join(world.folder, 'copy.json'), 'utf8'));
  expect(await other.run('replay', 'copy.json')).toBe(2);
  other.write('lossproof.config.json', JSON.stringify({ trainer: 'python3 adapter.py' }));
  expect(await other.run('replay', 'copy.json')).toBe(1);
});

test.each(['--op-timeout', '--hello-timeout', '--shrink-time'])(
  '%s 1e12 is refused: no timer holds it',
  async (option) => {
    const world = makeWorld();
    expect(await world.run('check', option, '1e12', ...COMMAND)).toBe(2);
    expect(world.err()).toContain('It must be at most 2,000,000 seconds.');
  },
);
