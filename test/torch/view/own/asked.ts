// What `view --config` says and shows of a project whose trainer is installed.
import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { familyFolder } from '../../../../src/tokenizers/load.ts';
import { makeWorld } from '../../../cli/world.ts';

export interface Shown {
  readonly code: number;
  readonly assumed: string;
  readonly settings: readonly { readonly key: string; readonly weight: string; readonly sentence: string }[];
  readonly shown: readonly {
    readonly row: number;
    readonly faults: readonly { readonly id: string }[];
    readonly parts: readonly { readonly trained: boolean; readonly text: string }[];
  }[];
}

export interface Project {
  readonly python: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Lists are written as JSON lines. */
  readonly files: Readonly<Record<string, unknown>>;
  /** Packages that are not installed, and imported; what needs them is not asked. */
  readonly stubs?: readonly string[];
  /** A module of the folder above that has their list, and more of them. */
  readonly stubbing?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function shown(
  { python, config, files, stubs, stubbing, env = {} }: Project,
  ...options: readonly string[]
): Promise<Shown> {
  const world = makeWorld(undefined, { env });
  cpSync(familyFolder('qwen'), join(world.folder, 'model'), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(world.folder, name)), { recursive: true });
    const rows = Array.isArray(content) ? content : [content];
    world.write(name, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  world.write('train.yaml', JSON.stringify(config));
  const list = stubbing === undefined ? stubs && JSON.stringify(stubs) : `__import__('${stubbing}').STUBS`;
  const named = list === undefined ? python : world.write('stubbed', stubbed(python, list));
  if (list !== undefined) chmodSync(named, 0o755);
  const words = ['--config', 'train.yaml', '--python', named, '--all', '--json', ...options];
  const code = await world.run('view', ...words);
  expect(world.err()).toBe('');
  const { assumed, settings, shown: rows } = JSON.parse(world.out());
  return { code, assumed: assumed.join('\n'), settings, shown: rows };
}

/** A Python in which packages can be imported that are not there. */
const stubbed = (python: string, list: string): string =>
  [
    `#!${python}`,
    'import os, runpy, sys',
    '# Our SDK, which has the stubs, would take standard output.',
    'os.environ.pop("LOSSPROOF_PIPE")',
    'sys.path.insert(0, os.getcwd())',
    'from lossproof.testing import stub',
    `sys.path.append(${JSON.stringify(fileURLToPath(new URL('..', import.meta.url)))})`,
    `with stub(${list}):`,
    '    runpy.run_module("lossproof_view", run_name="__main__")',
  ].join('\n');
