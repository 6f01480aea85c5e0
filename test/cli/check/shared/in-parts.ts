// A run of four properties on an adapter, in parts.

import type { Property } from '../../../../src/index.ts';
import { ADDS_NOTHING, DROPS_NOTHING, makeWorld, pythonCollate, type World } from '../../world.ts';

export const TRAINER = ['--', 'python3', 'adapter.py'] as const;

export const SEED = ['--seed', '7'] as const;

export const FOUR: readonly Property[] = [
  DROPS_NOTHING,
  { ...DROPS_NOTHING, id: 'collate/again' },
  { ...ADDS_NOTHING, level: 'must' },
  { ...ADDS_NOTHING, id: 'mask/again', level: 'must' },
];

export function worldWith(adapter = pythonCollate(), properties = FOUR): World {
  const world = makeWorld(properties);
  world.write('adapter.py', adapter);
  return world;
}

export const shard = (world: World, name: string, ...more: readonly string[]): Promise<number> =>
  world.run('check', ...SEED, '--shard', name, ...more, ...TRAINER);
