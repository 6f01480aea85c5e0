// Files of models and data sets that are meant to take the machine: each is answered with a sentence. `npm run measure:misbehaving`
// asks for 5 s of the processor and 1 GiB, too.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCheckpoint } from '../../src/checkpoints/folder.ts';
import { makeWorld } from '../cli/world.ts';
import { HOSTILE_FILES } from './hostile-files.ts';

test.each(Object.entries(HOSTILE_FILES))('%s', async (_, { write, read, says }) => {
  if (read[0] === 'checkpoint') {
    const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
    write(folder);
    expect(readCheckpoint(join(folder, read[1] ?? ''))).toEqual({ problem: expect.stringMatching(says) });
    rmSync(folder, { recursive: true });
    return;
  }
  const world = makeWorld();
  write(world.folder);
  await world.run(...read);
  expect(world.both().replaceAll(/\s+/g, ' ')).toMatch(says);
});
