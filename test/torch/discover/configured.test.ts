// Configurations: the project's own with its defaults where there is one, and what was made up is never written as measured.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

async function written(name: string): Promise<{ readonly out: string; readonly adapter: string }> {
  const world = makeWorld(properties);
  const path = fileURLToPath(new URL(`configured/${name}.py`, import.meta.url));
  const words = [path, '--python', PYTHON, '--only', 'loss', '--write', 'adapter.py'];
  expect(await world.run('discover', ...words)).toBe(0);
  return {
    out: world.out().replaceAll(/\s+/g, ' '),
    adapter: readFileSync(join(world.folder, 'adapter.py'), 'utf8'),
  };
}

test.each([
  ['own_config', 'own_config.Config()'],
  ['config_of_self', 'instance(config_of_self.Trainer, config=config_of_self.TrainConfig())'],
])('%s: its own defaults are measured and written', async (name, made) => {
  const { out, adapter } = await written(name);
  expect(out).toContain('clip low 0.3, clip high 0.3');
  expect(out).not.toContain('made up');
  expect(adapter).toContain(made);
  expect(adapter).toMatch(/"clip_low": 0.3,\s+"clip_high": 0.3,/);
});

test('what is made up for want of one is said, and is nobody’s semantics', async () => {
  const { out, adapter } = await written('no_config');
  expect(out).toContain(
    'made up, for nothing says it: clip_low=0.2, clip_high=0.28; so clip_low, clip_high are not written as semantics',
  );
  expect(adapter).toContain('"loss_aggregation": "token-mean"');
  expect(adapter).not.toMatch(/"clip_(low|high)":/);
  expect(adapter).toContain('Not said below, for its number was made up here: clip_low, clip_high.');
});
