// Three trainers in one configuration, for `check --all`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEvents } from '../../../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../../../src/report/runs.ts';
import {
  DROPS_NOTHING,
  makeWorld,
  pythonCollate,
  type World,
  type WorldOptions,
  WRONG,
} from '../../world.ts';

export interface Written {
  readonly trainers?: object;
  readonly matrix?: object;
  readonly exclude?: object;
}

/** `good` holds, `bad` is bad at 30, `side` is bad where it is told `right`. */
export function worldOf(written: Written, options: WorldOptions = {}): World {
  const world = makeWorld([DROPS_NOTHING], options);
  world.write('good.py', pythonCollate());
  world.write('bad.py', pythonCollate(WRONG));
  world.write('side.py', pythonCollate(`((${WRONG}) if sys.argv[1] == 'right' else rows)`));
  world.write('lossproof.config.json', JSON.stringify({ level: 'may', cases: 40, ...written }));
  return world;
}

export const GOOD = { trainer: 'python3 good.py' };

export function lastRuns(world: World): readonly Run[] {
  return runsOf(readEvents(readFileSync(join(world.folder, '.lossproof', 'last-run.ndjson'), 'utf8')).events);
}

/** With a seed of which `bad` meets its 30. */
export async function check(world: World, ...argv: readonly string[]): Promise<number> {
  return await world.run('check', '--seed', '7', ...argv);
}
