// What a trainer knows, by the version that scripts/view-config/known.py asked: its keys with their kinds, defaults and legal
// values. Nothing here is written from memory.
import { fileURLToPath } from 'node:url';
import { readJson } from '../../outside/file.ts';

export interface KnownKey {
  /** bool, int, float, str, list, dict, any. */
  readonly kinds: readonly string[];
  /** null: none, or one that is computed. */
  readonly default: boolean | number | string | null;
  readonly choices?: readonly string[];
  /** No code of the trainer asks for it. */
  readonly idle?: true;
}

export type KnownName = 'trl' | 'llama-factory' | 'verl' | 'axolotl' | 'openrlhf' | 'ms-swift' | 'torchtune';

export type Keys = Readonly<Record<string, KnownKey>>;

export interface Known {
  readonly trainer: string;
  readonly version: string;
  readonly keys: Keys;
  /** Keys that the launcher takes, and not the trainer. */
  readonly launcher: readonly string[];
  /** Keys of the parts of a configuration, by the name of the part. */
  readonly parts: Readonly<Record<string, Keys>>;
  /** Keys of the trainer's other commands, by command. */
  readonly others: Readonly<Record<string, readonly string[]>>;
  /** The version of transformers, whose arguments are among the keys. */
  readonly with: string;
  /** Keys that an older version had, with its package and version. */
  readonly formerly: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, unknown>>;
}

export function knownOf(name: KnownName): Known {
  const made = loaded.get(name);
  if (made !== undefined) return made;
  // After compilation this file lies in dist/src/view/config, the data stays in src/view/config.
  const root = import.meta.url.includes('/dist/src/view/') ? '../../../../' : '../../../';
  const read = readJson(fileURLToPath(new URL(`${root}src/view/config/known/${name}.json`, import.meta.url)));
  if ('complaint' in read) throw new Error(`the keys of ${name} cannot be read: ${read.complaint}`);
  const known = read.ok as Known;
  loaded.set(name, known);
  return known;
}

// --- helpers ---

const loaded = new Map<string, Known>();
