// What options and configuration choose for a run: which properties, how many cases, which failures are known.
import { resolve } from 'node:path';
import { type KnownFailures, readKnown } from '../check/known.ts';
import type { Property } from '../check/property.ts';
import type { Level } from '../vocabulary.ts';
import type { LoadedConfig } from './config.ts';
import type { Problem } from './context.ts';
import { selectProperties, splitNames } from './select.ts';

/** Screens a property in well under a second on a plain trainer, and meets every label's threshold. */
export const DEFAULT_CASES = 100;

export interface ChoiceOptions {
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly known?: string;
}

export function chosenProperties(
  options: ChoiceOptions,
  loaded: LoadedConfig | undefined,
  properties: readonly Property[],
): readonly Property[] | Problem {
  const written = loaded?.config.only ?? [];
  const only = splitNames(options.only ?? (typeof written === 'string' ? [written] : written));
  return selectProperties(properties, only, options.level ?? loaded?.config.level);
}

export function knownFor(
  options: ChoiceOptions,
  loaded: LoadedConfig | undefined,
  cwd: string,
): KnownFailures | Problem | undefined {
  const file =
    options.known !== undefined
      ? resolve(cwd, options.known)
      : loaded?.config.known !== undefined
        ? resolve(loaded.folder, loaded.config.known)
        : undefined;
  if (file === undefined) return undefined;
  const read = readKnown(file);
  return 'problem' in read ? read : read.known;
}
