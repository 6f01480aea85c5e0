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
  /** Modules of the published library that it drives, for `mutate`. Without them it drives a clone. */
  readonly sources?: readonly string[];
  /** Its folder, in which its known failures may lie. */
  readonly folder: string;
}

const FOLDER = join(PACKAGE_ROOT, 'src', 'python', 'lossproof', 'adapters');
const FILE = 'adapter.json';

/** By name, in the order of the alphabet. */
export const ADAPTERS: Readonly<Record<string, Adapter>> = Object.fromEntries(
  readdirSync(FOLDER)
    .filter((folder) => existsSync(join(FOLDER, folder, FILE)))
    .flatMap((folder) => {
      const declared: Record<string, Omit<Adapter, 'folder'>> = JSON.parse(
        readFileSync(join(FOLDER, folder, FILE), 'utf8'),
      );
      return Object.entries(declared).map(([name, adapter]) => [name, { ...adapter, folder }] as const);
    })
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);
export const ADAPTER_NAMES: readonly string[] = Object.keys(ADAPTERS);

/** The ready-made adapter that a command starts. */
export const adapterOf = (command: readonly string[]): string | undefined =>
  ADAPTER_NAMES.find((name) => command.at(-1) === ADAPTERS[name]?.module);

/** The file of the failures of it that are known, if there are any. */
export function knownFailuresOf(name: string): string | undefined {
  const file = join(FOLDER, ADAPTERS[name]?.folder ?? '', 'known', `${name}.json`);
  return existsSync(file) ? file : undefined;
}
