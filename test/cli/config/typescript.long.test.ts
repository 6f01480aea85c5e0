// A configuration in TypeScript that imports the package. Run from the sources, as here, all of them are compiled for it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/cli/config/config.ts';
import { makeWorld } from '../world.ts';

test('lossproof.config.ts is found upward, and may import what it is typed by', async () => {
  const world = makeWorld();
  const file = world.write(
    'lossproof.config.ts',
    "import { defineConfig } from 'lossproof';\nconst cases: number = 5;\nexport default defineConfig({ cases });",
  );
  const below = join(world.folder, 'a', 'b');
  mkdirSync(below, { recursive: true });
  mkdirSync(join(world.folder, '.git'));
  expect(await loadConfig({ ...world.context, cwd: below }, undefined)).toEqual({
    file,
    folder: world.folder,
    config: { cases: 5 },
  });
});
