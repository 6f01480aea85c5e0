import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeWorld } from './world.ts';

test.each([
  [['chekc'], `unknown command 'chekc', did you mean "check"?`],
  [['check', '--sed', '3'], `unknown option '--sed', did you mean "--seed"?`],
  [
    ['check', '--cases', 'many'],
    `option '--cases <n>' argument 'many' is invalid. It must be a whole number above 0.`,
  ],
  [
    ['check', '--seed', '-1'],
    `option '--seed <n>' argument '-1' is invalid. It must be a whole number from 0 to 2147483647.`,
  ],
  [
    ['check', '--level', 'shuold'],
    `option '--level <level>' argument 'shuold' is invalid. Did you mean "should"?`,
  ],
  [
    ['check', '--bundled', '--only', 'collate/drops-nothin'],
    `no property is called "collate/drops-nothin", did you mean "collate/drops-nothing"?`,
  ],
  [['check', '--bundled', '--only', 'colate'], `no property is called "colate", did you mean "collate"?`],
  [
    ['check', '--bundled', '--only', 'zzzzzzzzzzzz/*'],
    'no property is called "zzzzzzzzzzzz/*", `lossproof list` names them',
  ],
  [['check', '--adapter', 'trl-grop'], `no adapter is called "trl-grop", did you mean "trl-grpo"?`],
  [['check', '--adapter', 'trl-grpo', '--', 'python3'], 'name a trainer after -- or an --adapter, not both'],
  [['check', '--bundled', '--', 'python3'], 'name a trainer after -- or say --bundled, not both'],
  [['check', '--bundled', '--adapter', 'trl-sft'], 'name an --adapter or say --bundled, not both'],
  [
    ['check', '--bundled', '--config', 'mine.json'],
    '--config and --bundled cannot be combined: --bundled runs the example trainer',
  ],
  [
    ['check', '--bundled', '--only', 'mask/*', '--level', 'must'],
    'no property of mask/* is of level must; --level should has some',
  ],
  [
    ['check', 'python', 'adapter.py'],
    "too many arguments for 'check'. Expected 0 arguments but got 2; write the trainer's command after --, as in `lossproof check -- python adapter.py`",
  ],
  [['replay'], "missing required argument 'case'"],
  [
    ['replay', '7f3a9c'],
    'no case 7f3a9c: nothing is saved in .lossproof/cases; `lossproof check` saves what fails',
  ],
  [
    ['list', '--only', 'mask/add-nothing'],
    `no property is called "mask/add-nothing", did you mean "mask/adds-nothing"?`,
  ],
])('lossproof %j is refused in one line', async (argv, line) => {
  const world = makeWorld();
  expect(await world.run(...argv)).toBe(2);
  expect(world.err()).toBe(`lossproof: ${line}\n`);
  expect(world.out()).toBe('');
});

test.each([
  ['check'],
  ['check', '--only', 'mask'],
  ['doctor'],
  ['profile'],
  ['golden', 'record'],
  ['golden', 'accept', '--all'],
])('%s %s without a trainer is no verdict, and says every way to name one', async (...argv) => {
  const world = makeWorld();
  expect(await world.run(...argv)).toBe(2);
  expect(world.out()).toBe('');
  expect(world.err()).toMatch(
    /^lossproof: no trainer is named, and no lossproof\.config\.\* stands in this folder/,
  );
  for (const way of [
    '-- python adapter.py',
    '--adapter trl-',
    'npx lossproof init',
    'LOSSPROOF_TRAINER=',
    '--bundled',
  ])
    expect(world.err()).toContain(`\n  ${way}`);
  expect(readdirSync(world.folder)).toEqual([]);
});

test('a configuration that names no trainer is named', async () => {
  const world = makeWorld();
  const file = world.write('lossproof.config.json', '{"cases": 5}');
  expect(await world.run('check')).toBe(2);
  expect(world.err()).toContain(`no trainer is named, and ${file} names none. Name one:`);
});

test.each(['check', 'replay', 'profile', 'list', 'doctor', 'init', 'demo'])(
  '%s --help shows examples',
  async (name) => {
    const world = makeWorld();
    expect(await world.run(name, '--help')).toBe(0);
    expect(world.out()).toContain(`Examples:\n  npx lossproof ${name}`);
  },
);

test('no command at all shows the help and is no verdict', async () => {
  const world = makeWorld();
  expect(await world.run()).toBe(2);
  expect(world.out()).toContain('Usage: lossproof');
});

test('the options of the trainer are not ours', async () => {
  const world = makeWorld();
  expect(await world.run('list', '--', 'no-such-program', '--seed', 'x', '--help')).toBe(2);
  expect(world.err()).toContain('no-such-program --seed x --help did not start');
});
