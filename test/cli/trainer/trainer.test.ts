import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { LoadedConfig } from '../../../src/cli/config/config.ts';
import { findPython, pythonIn, pythonPathPrefix } from '../../../src/cli/trainer/python.ts';
import { chooseTrainer, commandOf, pipeLine } from '../../../src/cli/trainer/trainer.ts';
import { joinCommand, splitCommand } from '../../../src/cli/trainer/words.ts';
import { quoted } from '../../../src/report/failure/reproduce.ts';
import { PYTHON_FOLDER } from '../../../src/version.ts';
import { makeWorld } from '../world.ts';

const config = (more: LoadedConfig['config']): LoadedConfig => ({
  file: '/p/lossproof.config.json',
  folder: '/p',
  config: more,
});
const env = { LOSSPROOF_TRAINER: 'node env.js' };

test('what is typed wins over the configuration, that over the environment, and nobody is meant otherwise', () => {
  const place = { cwd: '/p/sub', env };
  const of = (...words: Parameters<typeof chooseTrainer>): unknown => {
    const choice = chooseTrainer(...words);
    return 'problem' in choice ? choice : [commandOf(choice), choice.from, 'cwd' in choice && choice.cwd];
  };
  const loaded = config({ trainer: 'node config.js' });
  expect(of({ command: ['node', 'typed.js'] }, loaded, place)).toEqual(['node typed.js', 'typed', '/p/sub']);
  expect(of({ adapter: 'trl-sft', python: 'py' }, loaded, place)).toEqual([
    'py -m lossproof.adapters.trl.sft',
    'typed',
    '/p/sub',
  ]);
  expect(of({}, loaded, place)).toEqual(['node config.js', 'config', '/p']);
  expect(of({}, config({ adapter: 'trl-grpo', python: './py' }), place)).toEqual([
    '/p/py -m lossproof.adapters.trl.grpo',
    'config',
    '/p',
  ]);
  expect(of({}, config({}), place)).toEqual(['node env.js', 'environment', '/p/sub']);
  const bare = { cwd: '/p', env: {} };
  const example = ['python3 -m lossproof.examples.left_padded', 'bundled', PYTHON_FOLDER];
  expect(of({}, undefined, bare)).toEqual({ problem: expect.stringContaining('no trainer is named') });
  expect(of({}, undefined, bare, 'bundled')).toEqual(example);
  expect(of({ bundled: true }, undefined, { cwd: '/p', env })).toEqual(example);
});

test('a tokenizer goes along with a ready-made adapter', () => {
  const choice = chooseTrainer({ adapter: 'trl-grpo', python: 'py', tokenizer: '/my tok' }, undefined, {
    cwd: '/p',
    env: {},
  });
  expect('problem' in choice ? choice : commandOf(choice)).toBe(
    "env 'LOSSPROOF_TOKENIZER=/my tok' py -m lossproof.adapters.trl.grpo",
  );
});

test('the Python is the named one, LOSSPROOF_PYTHON, the active environment, ./.venv, or python3', () => {
  const { folder } = makeWorld();
  expect(findPython(undefined, { cwd: folder, env: {} })).toBe('python3');
  for (const name of ['.venv', 'active']) {
    mkdirSync(join(folder, name, 'bin'), { recursive: true });
    writeFileSync(join(folder, name, 'bin/python'), '');
  }
  const active = { VIRTUAL_ENV: join(folder, 'active') };
  expect(findPython(undefined, { cwd: folder, env: {} })).toBe(join(folder, '.venv/bin/python'));
  expect(findPython(undefined, { cwd: folder, env: active })).toBe(join(folder, 'active/bin/python'));
  expect(findPython(undefined, { cwd: folder, env: { ...active, LOSSPROOF_PYTHON: 'py' } })).toBe('py');
  expect(findPython('./mine', { cwd: folder, env: { LOSSPROOF_PYTHON: 'py' } })).toBe(join(folder, 'mine'));
});

test('the Python that lossproof is installed in comes before ./.venv where it is an environment, and after it where not', () => {
  const { folder } = makeWorld();
  const inside = join(folder, 'environment/bin/python');
  const place = { cwd: folder, env: { LOSSPROOF_DOOR_PYTHON: inside } };
  expect(findPython(undefined, place)).toBe(inside);
  mkdirSync(join(folder, '.venv/bin'), { recursive: true });
  writeFileSync(join(folder, '.venv/bin/python'), '');
  expect(findPython(undefined, place)).toBe(join(folder, '.venv/bin/python'));
  mkdirSync(join(folder, 'environment'));
  writeFileSync(join(folder, 'environment/pyvenv.cfg'), '');
  expect(findPython(undefined, place)).toBe(inside);
  const active = { ...place.env, VIRTUAL_ENV: join(folder, 'active') };
  expect(findPython(undefined, { cwd: folder, env: active })).toBe(join(folder, 'active/bin/python'));
});

test('the Python of an environment lies elsewhere on Windows', () => {
  expect(pythonIn('.venv', true)).toBe(join('.venv', 'Scripts', 'python.exe'));
  expect(pythonIn('.venv', false)).toBe(join('.venv', 'bin', 'python'));
});

test('a shell line without the harness finds the Python package and the folder of the trainer', () => {
  const place = { cwd: '/p/sub', env: {} };
  const prefix = `PYTHONPATH=${quoted(PYTHON_FOLDER)} `;
  expect(pythonPathPrefix(['/usr/bin/python3.11', 'a.py'], place)).toBe(prefix);
  expect(pythonPathPrefix(['node', 'a.js'], place)).toBe('');
  expect(pythonPathPrefix(['python', 'a.py'], { cwd: '/p', env: { PYTHONPATH: PYTHON_FOLDER } })).toBe('');
  const choice = chooseTrainer({}, config({ trainer: ['node', 'my a.js'] }), place);
  expect('problem' in choice ? choice : pipeLine(choice, place)).toBe("(cd .. && node 'my a.js')");
});

test.each([
  ['python adapter.py', ['python', 'adapter.py']],
  [`python "my adapter.py" --x='a b'c`, ['python', 'my adapter.py', '--x=a bc']],
  ['a\\ b "c\\"d" ""', ['a b', 'c"d', '']],
  ["  '日本 語'  x ", ['日本 語', 'x']],
])('the command %s is split as a shell does, and joined again', (text, words) => {
  expect(splitCommand(text)).toEqual(words);
  expect(splitCommand(joinCommand(words))).toEqual(words);
});

/** What is typed on Windows, and its words there; no backslash is lost. */
const ON_WINDOWS: readonly (readonly [string, readonly string[]])[] = [
  ['.venv\\Scripts\\python.exe adapter.py', ['.venv\\Scripts\\python.exe', 'adapter.py']],
  [`"C:\\Program Files\\p.exe" 'D:\\my data' x\\`, ['C:\\Program Files\\p.exe', 'D:\\my data', 'x\\']],
  ['\\\\server\\share\\a.py "\\\\server\\b c"', ['\\\\server\\share\\a.py', '\\\\server\\b c']],
  [`C:\\my\\ file a\\"b "say \\"hi\\"" ""`, ['C:\\my file', 'a"b', 'say "hi"', '']],
  ['"a\\\\" b\\\'c', ['a\\\\', "b'c"]],
];

test.each(ON_WINDOWS)(
  'on Windows %s keeps its backslashes, from the configuration and from pytest',
  async (text, words) => {
    expect(splitCommand(text, 'win32')).toEqual(words);
    expect(splitCommand(joinCommand(words), 'win32')).toEqual(words);
    const program =
      'import json, sys; from lossproof_door._words import split; print(json.dumps(split(sys.argv[1], windows=True)))';
    const { stdout } = await execa('python3', ['-c', program, text], { env: { PYTHONPATH: PYTHON_FOLDER } });
    expect(JSON.parse(stdout)).toEqual(words);
  },
);

test('on Windows, too, an open quote is refused', async () => {
  expect(splitCommand('"C:\\a', 'win32')).toHaveProperty('problem');
  const program = `from lossproof_door._words import split; split('"C:\\\\a', windows=True)`;
  const ran = await execa('python3', ['-c', program], { env: { PYTHONPATH: PYTHON_FOLDER }, reject: false });
  expect(ran.stderr).toContain('ValueError: No closing quotation');
});

test('a command with an open quote, and one without words, are refused', () => {
  expect(splitCommand('python "a.py')).toEqual({
    problem: expect.stringContaining('a quote that is not closed'),
  });
  expect(splitCommand('  ')).toEqual({ problem: 'the command is empty' });
});
