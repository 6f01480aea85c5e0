// `init`: what it writes, what it leaves alone, and that what it wrote works as it is.
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { VERSION } from '../../../src/version.ts';
import { makeWorld, type World } from '../world.ts';

const read = (world: World, name: string): string => readFileSync(join(world.folder, name), 'utf8');
const schemaOf = (world: World, name: string): unknown =>
  (JSON.parse(read(world, name)) as { readonly $schema?: unknown }).$schema;
const manifest = (world: World): Record<string, Record<string, string>> =>
  JSON.parse(read(world, 'package.json')) as Record<string, Record<string, string>>;
const VITEST = expect.stringMatching(/^\^4\./) as unknown as string;

describe('init', () => {
  test('writes an adapter of which everything holds as it is, and a configuration that names it', async () => {
    const world = makeWorld(properties.filter(({ stage }) => stage === 'mask' || stage === 'kl'));
    expect(await world.run('init')).toBe(0);
    expect(world.out()).toBe(
      'wrote adapter.py and lossproof.config.json\n\nNext:\n  npx lossproof doctor\n  npx lossproof check\n',
    );
    expect(await world.run('check', '--cases', '20', '--no-corpus')).toBe(0);
    expect(existsSync(join(world.folder, 'package.json'))).toBe(false);
  });

  test('names the Python of the folder where it has one', async () => {
    const world = makeWorld(properties.filter(({ stage }) => stage === 'kl'));
    mkdirSync(join(world.folder, '.venv', 'bin'), { recursive: true });
    world.write('.venv/bin/python', '#!/bin/sh\nexec python3 "$@"\n');
    chmodSync(join(world.folder, '.venv/bin/python'), 0o755);
    expect(await world.run('init')).toBe(0);
    expect(read(world, 'lossproof.config.json')).toContain('"trainer": ".venv/bin/python adapter.py"');
    expect(await world.run('doctor')).toBe(0);
  });

  test('names the schema of its keys where the package is installed, here or above', async () => {
    const world = makeWorld();
    expect(await world.run('init')).toBe(0);
    expect(read(world, 'lossproof.config.json')).not.toContain('$schema');
    mkdirSync(join(world.folder, 'node_modules/lossproof/docs'), { recursive: true });
    world.write('node_modules/lossproof/docs/config.schema.json', '{}');
    expect(await world.run('init', '--force')).toBe(0);
    expect(schemaOf(world, 'lossproof.config.json')).toBe('./node_modules/lossproof/docs/config.schema.json');
    mkdirSync(join(world.folder, 'packages/a'), { recursive: true });
    const below = { ...world.context, cwd: join(world.folder, 'packages/a') };
    expect(await runProgram(['init'], below)).toBe(0);
    expect(schemaOf(world, 'packages/a/lossproof.config.json')).toBe(
      '../../node_modules/lossproof/docs/config.schema.json',
    );
  });

  test('writes over nothing unless told to', async () => {
    const world = makeWorld();
    world.write('adapter.py', 'mine');
    expect(await world.run('init')).toBe(2);
    expect(world.err()).toBe('lossproof: adapter.py is already here; --force writes over\n');
    expect(read(world, 'adapter.py')).toBe('mine');
    expect(existsSync(join(world.folder, 'lossproof.config.json'))).toBe(false);
    expect(await world.run('init', '--force')).toBe(0);
    expect(read(world, 'adapter.py')).not.toBe('mine');
  });
});

describe('init --vitest', () => {
  test('writes all that `npm test` needs into an empty folder, and says what comes next', async () => {
    const world = makeWorld();
    expect(await world.run('init', '--vitest')).toBe(0);
    expect(world.out()).toContain(
      'wrote adapter.py, lossproof.config.json and trainer.test.ts\nmade package.json: ',
    );
    expect(world.out()).toContain('Next:\n  npm install\n  npm test\n');
    expect(read(world, 'trainer.test.ts')).toContain("from 'lossproof/vitest'");
    // `npm install` comes next.
    expect(schemaOf(world, 'lossproof.config.json')).toBe('./node_modules/lossproof/docs/config.schema.json');
    expect(manifest(world)).toEqual({
      private: true,
      type: 'module',
      scripts: { test: 'vitest run' },
      devDependencies: { lossproof: `^${VERSION}`, vitest: VITEST },
    });
  });

  test('adds what is lacking to a package.json and keeps the rest, its indentation and line ends', async () => {
    const world = makeWorld();
    const before =
      '{\r\n\t"name": "x",\r\n\t"devDependencies": {\r\n\t\t"zod": "1",\r\n\t\t"lossproof": "file:t.tgz"\r\n\t}\r\n}\r\n';
    world.write('package.json', before);
    expect(await world.run('init', '--vitest')).toBe(0);
    const after = read(world, 'package.json');
    expect(after.replaceAll('\r\n', '')).not.toContain('\n');
    expect(after.endsWith('}\r\n')).toBe(true);
    expect(after).toContain('\r\n\t\t"zod": "1"');
    expect(manifest(world)).toEqual({
      name: 'x',
      scripts: { test: 'vitest run' },
      devDependencies: { lossproof: 'file:t.tgz', vitest: VITEST, zod: '1' },
    });
  });

  test.each([
    ['its own test script', 'jest', 'jest', 'add to it: "test": "jest && vitest run"'],
    ['one that runs vitest already', 'vitest --run', 'vitest --run', undefined],
    ['the placeholder of npm', 'echo "Error: no test specified" && exit 1', 'vitest run', undefined],
  ])('of a package.json with %s', async (_, before, after, said) => {
    const world = makeWorld();
    world.write('package.json', JSON.stringify({ scripts: { test: before } }));
    expect(await world.run('init', '--vitest')).toBe(0);
    expect(manifest(world).scripts?.test).toBe(after);
    if (said === undefined) expect(world.out()).not.toContain('add to it');
    else expect(world.out()).toContain(said);
  });

  test('keeps an adapter and a configuration that are there, and is the same when run twice', async () => {
    const world = makeWorld();
    await world.run('init');
    world.write('adapter.py', 'mine');
    expect(await world.run('init', '--vitest')).toBe(0);
    expect(world.out()).toContain(
      'wrote trainer.test.ts\nkept lossproof.config.json and adapter.py; --force writes over\n',
    );
    expect(read(world, 'adapter.py')).toBe('mine');
    const before = read(world, 'package.json');
    expect(await world.run('init', '--vitest')).toBe(0);
    expect(read(world, 'package.json')).toBe(before);
  });

  test('writes no adapter beside a configuration that names another trainer', async () => {
    const world = makeWorld();
    world.write('lossproof.config.ts', 'export default {};');
    expect(await world.run('init', '--vitest')).toBe(0);
    expect(existsSync(join(world.folder, 'adapter.py'))).toBe(false);
    expect(existsSync(join(world.folder, 'lossproof.config.json'))).toBe(false);
  });

  test.each(['{', '[]', '"x"'])('writes nothing beside the package.json %s', async (content) => {
    const world = makeWorld();
    world.write('package.json', content);
    expect(await world.run('init', '--vitest')).toBe(2);
    expect(world.err()).toBe('lossproof: package.json is no JSON object; correct it first\n');
    expect(existsSync(join(world.folder, 'adapter.py'))).toBe(false);
    expect(read(world, 'package.json')).toBe(content);
  });
});
