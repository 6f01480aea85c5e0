import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/cli/config/config.ts';
import { makeWorld } from '../world.ts';

test.each([
  ['lossproof.config.json', '{"cases": 5}'],
  ['lossproof.config.mjs', 'export default { cases: 5 };'],
])('%s is found upward, in folders with spaces and letters outside ASCII', async (name, content) => {
  const world = makeWorld();
  const file = world.write(name, content);
  const below = join(world.folder, 'a', 'b');
  mkdirSync(below, { recursive: true });
  mkdirSync(join(world.folder, '.git'));
  expect(await loadConfig({ ...world.context, cwd: below }, undefined)).toEqual({
    file,
    folder: world.folder,
    config: { cases: 5 },
  });
});

test('a configuration may say where its schema is', async () => {
  const world = makeWorld();
  const config = { $schema: './node_modules/lossproof/docs/config.schema.json', cases: 5 };
  const file = world.write('lossproof.config.json', JSON.stringify(config));
  expect(await loadConfig(world.context, undefined)).toEqual({ file, folder: world.folder, config });
});

test('no configuration is no problem', async () => {
  expect(await loadConfig(makeWorld().context, undefined)).toBeUndefined();
});

test.each([
  ['{"tokeniser": "x"}', 'unknown key "tokeniser", did you mean "tokenizer"?'],
  ['{"cases": 0}', '"cases" must be a whole number above 0'],
  ['{"level": "always"}', '"level" must be "must", "should" or "may"'],
  [
    '{"trainer": {"ops": {}}}',
    '"trainer" must be a command (text or list of words) or an object with hello and ops',
  ],
  ['{"trainer": "a", "adapter": "trl-sft"}', 'name a trainer or an adapter, not both'],
  ['[]', 'the configuration must be an object (in a module: its default export)'],
])('the configuration %s is refused', async (content, sentence) => {
  const world = makeWorld();
  const file = world.write('lossproof.config.json', content);
  expect(await loadConfig(world.context, undefined)).toEqual({ problem: `${file}: ${sentence}` });
  expect(await world.run('check')).toBe(2);
  expect(world.err().trimEnd().split('\n')).toEqual([`lossproof: ${file}: ${sentence}`]);
});

test.each([
  ['lossproof.config.json', '{'],
  ['lossproof.config.mjs', 'throw new Error("boom")'],
  ['lossproof.config.ts', 'const x: = 1'],
])('a broken %s is one sentence that names it', async (name, content) => {
  const world = makeWorld();
  const file = world.write(name, content);
  const loaded = await loadConfig(world.context, undefined);
  expect(loaded).toEqual({ problem: expect.stringContaining(`${file} cannot be loaded: `) });
});

test('a named configuration that is not there is said', async () => {
  const world = makeWorld();
  expect(await world.run('check', '--config', 'no.json')).toBe(2);
  expect(world.err()).toContain(`there is no configuration file ${join(world.folder, 'no.json')}`);
});
