// `twin` of the script of twin-script.ts, as a test types it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeWorld, type World, type WorldOptions } from '../world.ts';
import { writeTwinScript } from './twin-script.ts';

export function twinWorld(options: WorldOptions = {}): World {
  const world = makeWorld([], options);
  writeTwinScript(world);
  return world;
}

interface Ended {
  readonly code: number;
  readonly out: string;
}

export async function twin(options: readonly string[], script = '', world = twinWorld()): Promise<Ended> {
  const words = script.split(' ').filter((word) => word !== '');
  const code = await world.run('twin', ...options, '--', 'python3', 'train.py', ...words);
  return { code, out: world.both().replaceAll(/\s+/g, ' ') };
}

/** Folders of the twins that were run, one each. */
export function runsOf(world: World): string[] {
  const parent = join(world.folder, '.lossproof', 'twin');
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(parent, name));
}
