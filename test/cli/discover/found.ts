// What `discover --json` finds.

import { fileURLToPath } from 'node:url';
import { parseStrict } from '../../../src/outside/json.ts';
import type { World } from '../world.ts';

export const EXAMPLE = fileURLToPath(new URL('../../../docs/example/my_trainer.py', import.meta.url));

export interface Json {
  readonly files: readonly { readonly file: string; readonly problem?: string }[];
  readonly printing: readonly { readonly function: string; readonly file: string }[];
  readonly bound: readonly {
    readonly function: string;
    readonly file: string;
    readonly op: string;
    readonly call: string;
  }[];
  readonly misfits: readonly {
    readonly function: string;
    readonly broken: readonly { readonly sentence: string }[];
  }[];
  readonly open: readonly { readonly function: string }[];
  readonly uncalled: readonly { readonly file: string; readonly why: string }[];
}

export async function found(world: World, ...words: readonly string[]): Promise<Json> {
  const before = world.out().length;
  await world.run('discover', ...words, '--python', 'python3', '--json');
  const parsed = parseStrict(world.out().slice(before));
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  return parsed.ok as Json;
}
