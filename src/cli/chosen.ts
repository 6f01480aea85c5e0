// What options and configuration choose for a run: which properties, how many cases, which failures are known.
import { join, resolve } from 'node:path';
import { type KnownFailures, readKnown } from '../check/known.ts';
import type { Property } from '../check/property.ts';
import { PACKAGE_ROOT } from '../version.ts';
import type { Level } from '../vocabulary.ts';
import type { LoadedConfig } from './config.ts';
import type { Problem } from './context.ts';
import type { Plan } from './plan.ts';
import { selectProperties, splitNames } from './select.ts';
import { ADAPTERS, type TrainerChoice } from './trainer.ts';

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

/** The user's known failures over those that a ready-made adapter brings along. */
export function knownFor(
  options: ChoiceOptions,
  { choice, loaded }: Pick<Plan, 'choice' | 'loaded'>,
  cwd: string,
): KnownFailures | Problem {
  const files = [
    bundledKnown(choice),
    options.known !== undefined
      ? resolve(cwd, options.known)
      : loaded?.config.known !== undefined
        ? resolve(loaded.folder, loaded.config.known)
        : undefined,
  ];
  let all: KnownFailures = {};
  for (const file of files) {
    if (file === undefined) continue;
    const read = readKnown(file);
    if ('problem' in read) return read;
    all = { ...all, ...read.known };
  }
  return all;
}

/** What a ready-made adapter's trainer is known to do wrong, each with the case that shows it. */
function bundledKnown(choice: TrainerChoice): string | undefined {
  if (choice.kind !== 'command') return undefined;
  const module = choice.command.at(-1);
  const name = Object.keys(ADAPTERS).find((adapter) => ADAPTERS[adapter] === module);
  return name === undefined ? undefined : join(ADAPTERS_FOLDER, 'known', `${name}.json`);
}

const ADAPTERS_FOLDER = join(PACKAGE_ROOT, 'src', 'python', 'trainproof', 'adapters');
