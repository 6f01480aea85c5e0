// `mutate` as it is typed: what becomes of each change of a small trainer.
import { readdirSync, readFileSync } from 'node:fs';
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
