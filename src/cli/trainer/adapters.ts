// The ready-made adapters, as the folders of the SDK have them: an adapter is known here by its adapter.json alone.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';

export interface Adapter {
  /** `python -m` runs it. */
  readonly module: string;
  readonly title: string;
  /** What it is tested with, as pip takes it. */
  readonly requirements: readonly string[];
  /** Modules of the library that it drives, for `mutate`; default: what the adapter imports of its own project. */
  readonly sources?: readonly string[];
}

const FOLDER = join(PACKAGE_ROOT, 'src', 'python', 'lossproof', 'adapters');

/** By name, in the order of the alphabet. */
export const ADAPTERS: Readonly<Record<string, Adapter>> = Object.fromEntries(
  readdirSync(FOLDER)
    .map((folder) => join(FOLDER, folder, 'adapter.json'))
    .filter(existsSync)
    .flatMap((file) => Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Adapter>))
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);
export const ADAPTER_NAMES: readonly string[] = Object.keys(ADAPTERS);

/** The ready-made adapter that a command starts. */
export const adapterOf = (command: readonly string[]): string | undefined =>
  ADAPTER_NAMES.find((name) => command.at(-1) === ADAPTERS[name]?.module);

/** The failures of it that are known. */
export const knownFailuresOf = (name: string): string => join(FOLDER, 'known', `${name}.json`);
