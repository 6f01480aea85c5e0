// `mutate` as it is typed: what becomes of each change of a small trainer, and what is said of one that cannot be changed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { World } from '../world.ts';
import { ADAPTER, ARGUMENTS, COMMAND, mutateWorld, TRAINER, type Written } from './trainer.ts';

const written = (world: World): Written =>
  JSON.parse(readFileSync(join(world.folder, 'out.json'), 'utf8')) as Written;

/** `line kind: outcome`. */
const fates = ({ changes }: Written): string[] =>
  changes.map(
    ({ line, kind, outcome, by, error }) =>
      `${line} ${kind}: ${outcome}${error ? ' by an error' : ''}${by === undefined ? '' : ` (${by})`}`,
  );

test('found, surviving, unreached, hanging and crashing changes', async () => {
  const world = mutateWorld();
  const code = await world.run(...ARGUMENTS, '--json', 'out.json', '--html', 'page ü.html', ...COMMAND);
  expect(code, world.both()).toBe(0);
  const result = written(world);
  const said = fates(result);
  expect(said).toMatchSnapshot();
  const reason = (line: number, kind: string): string =>
    result.changes.find((each) => each.line === line && each.kind === kind)?.reason ?? '';
  expect(reason(12, 'sign')).toMatch(/did not answer/); // at -= 1: for ever
  expect(reason(14, 'flag')).toMatch(/exited with code 3|code 3/);
  expect(result.changes.find(({ line }) => line === 13)).toMatchObject({
    outcome: 'survives',
    answers: 'same',
  });
  expect(world.out()).toContain('In code that no op reaches\n');
  expect(world.out()).toContain('trainer.py  spare: 1 change.');
  expect(world.out()).toContain('+ unused = 3');
  expect(world.out().trimEnd().split('\n').at(-1)).toMatch(
    /^\d+ changes: \d+ found \(\d+ by an error\), 3 in code that no op reaches, 3 survive \(3 change no answer\)$/,
  );
  expect(readFileSync(join(world.folder, 'page ü.html'), 'utf8')).toContain('unused = 3');
  // Never on disk, and nothing is left behind.
  expect(readFileSync(join(world.folder, 'trainer.py'), 'utf8')).toBe(TRAINER);
  expect(
    readdirSync(world.folder)
      .filter((name) => !name.startsWith('__py'))
      .sort(),
  ).toEqual(['.lossproof', 'adapter.py', 'out.json', 'page ü.html', 'trainer.py'].sort());
});

test('check names the last score of its trainer, and that it is stale once the trainer is another one', async () => {
  const world = mutateWorld();
  await world.run(...ARGUMENTS, ...COMMAND);
  const today = new Date().toISOString().slice(0, 10);
  await world.run('check', '--cases', '5', '--no-profile', ...COMMAND);
  expect(world.out()).toMatch(/\nmutate: \d+ of \d+ changes found, 3 survive, \d{4}-\d\d-\d\d\n/);
  expect(world.out()).toContain(today.slice(0, 7));
  world.write('trainer.py', `${TRAINER}\n`);
  await world.run('check', '--cases', '5', '--no-profile', ...COMMAND);
  expect(world.out()).toContain('; stale: trainer.py has changed since\n');
  await world.run('check', '--cases', '5', '--no-profile', '--', 'python3', './adapter.py');
  expect(world.out().match(/\nmutate: /g)).toHaveLength(2);
});

test('--at-least is the exit code', async () => {
  const world = mutateWorld();
  expect(await world.run(...ARGUMENTS, '--at-least', '10', ...COMMAND), world.both()).toBe(0);
  expect(await world.run(...ARGUMENTS, '--at-least', '100', ...COMMAND)).toBe(1);
  expect(world.err()).toMatch(
    /lossproof: \d+\.\d % of the changes that are reached are found, --at-least 100\n/,
  );
});

test('a trainer that does not hold as it is has no score', async () => {
  const world = mutateWorld();
  world.write('trainer.py', TRAINER.replace('row + [pad]', 'row[1:] + [pad]'));
  expect(await world.run(...ARGUMENTS, ...COMMAND)).toBe(2);
  expect(world.err()).toMatch(/^lossproof: the trainer does not hold as it is: collate\/drops-nothing: /);
  expect(world.err()).toContain('Judge the trainer first: npx lossproof check -- python3 adapter.py');
});

test('a single file is changed itself, and what runs once in it is not tried', async () => {
  const world = mutateWorld();
  world.write(
    'adapter.py',
    `${TRAINER}\nSIZE = 5\n${ADAPTER.replace('from trainer import counted, padded\n', '')}`,
  );
  expect(await world.run(...ARGUMENTS, '--json', 'out.json', ...COMMAND), world.both()).toBe(0);
  const fates = written(world).changes.map(({ line, outcome }) => [line, outcome]);
  expect(fates).toContainEqual([3, 'untried']);
  expect(fates).toContainEqual([7, 'found']);
});

test.each([
  ['a source that does not parse', ['--source', 'broken.py'], /broken\.py:1 does not parse/],
  [
    'a source that nobody imports',
    ['--source', 'other.py'],
    /--source other\.py: the adapter does not import it/,
  ],
  ['a source that is not there', ['--source', 'no.py'], /--source no\.py: there is no such file/],
])('%s', async (_, options, expected) => {
  const world = mutateWorld();
  world.write('other.py', 'x = 1\n');
  world.write('broken.py', 'def f(:\n');
  world.write(
    'adapter.py',
    ADAPTER.replace(
      'from trainer',
      'import sys, types\nsys.modules["broken"] = types.ModuleType("broken")\nsys.modules["broken"].__file__ = "broken.py"\nfrom trainer',
    ),
  );
  expect(await world.run(...ARGUMENTS, ...options, ...COMMAND), world.both()).toBe(2);
  expect(world.err()).toMatch(expected);
});

test('an adapter without Python', async () => {
  const world = mutateWorld();
  world.write(
    'adapter.mjs',
    `process.stdin.on('data', () => console.log(JSON.stringify({ id: 1, ok: { protocol: 1, name: 'n', ops: { collate: {} } } })));`,
  );
  expect(await world.run(...ARGUMENTS, '--', 'node', 'adapter.mjs'), world.both()).toBe(2);
  expect(world.err()).toMatch(/^lossproof: the trainer is not changed: mutate needs an adapter in Python/);
  expect(existsSync(join(world.folder, '.lossproof'))).toBe(false);
});

test('--max-time is counted from the beginning, and a run that had none of it is no run', async () => {
  const world = mutateWorld();
  expect(await world.run(...ARGUMENTS, '--max-time', '0.001', ...COMMAND), world.both()).toBe(2);
  expect(world.err()).toContain('--max-time was over before the trainer had been started and measured');
  expect(existsSync(join(world.folder, '.lossproof', 'mutate'))).toBe(false);
  expect(await world.run(...ARGUMENTS, '--resume', ...COMMAND)).toBe(2);
  expect(world.err()).toContain('--resume: no run of this trainer is kept');
});

test('--resume goes on where Ctrl-C ended it, and refuses another text', async () => {
  let interrupted = false;
  const world = mutateWorld({
    isTty: true,
    onWrite(both, { interrupt }) {
      if (!interrupted && /\d of 13 changes/.test(both)) {
        interrupted = true;
        interrupt();
      }
    },
  });
  expect(await world.run(...ARGUMENTS, '--json', 'out.json', ...COMMAND), world.both()).toBe(130);
  const before = written(world);
  expect(before.left).toBeGreaterThan(0);
  expect(before.interrupted).toBe(true);
  expect(await world.run('mutate', '--cases', '10', '--resume', '--json', 'out.json', ...COMMAND)).toBe(0);
  const after = written(world);
  expect(after.left).toBe(0);
  for (const [at, each] of before.changes.entries())
    if (each.outcome !== 'left') expect(after.changes[at]).toEqual(each);
  world.write('trainer.py', TRAINER.replace('PLAIN = 7', 'PLAIN = 8'));
  expect(await world.run('mutate', '--cases', '10', '--resume', ...COMMAND)).toBe(2);
  expect(world.err()).toContain('of other text: trainer.py is not what it was; nothing of it stands');
});
