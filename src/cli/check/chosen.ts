// What options and configuration choose for a run: which properties, how many cases, which failures are known.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Property } from '../../check/property.ts';
import { knownOf, readCauses } from '../../check/saved/causes.ts';
import { type KnownFailures, readKnown } from '../../check/saved/known.ts';
import type { Hello } from '../../protocol/message.ts';
import type { Level } from '../../vocabulary.ts';
import type { LoadedConfig } from '../config/config.ts';
import { isProblem, type Problem } from '../context.ts';
import { adapterOf, knownFailuresOf } from '../trainer/adapters.ts';
import type { TrainerChoice } from '../trainer/trainer.ts';
import type { Plan } from './plan.ts';
import { selectProperties, splitNames } from './select.ts';

export interface ChoiceOptions {
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly known?: string;
}

export interface Chosen {
  readonly properties: readonly Property[];
  /** As named, and left out for their level. */
  readonly leftOut: readonly Property[];
}

export function chosenProperties(
  options: ChoiceOptions,
  loaded: LoadedConfig | undefined,
  catalogue: readonly Property[],
): Chosen | Problem {
  const written = loaded?.config.only ?? [];
  const only = splitNames(options.only ?? (typeof written === 'string' ? [written] : written));
  const properties = selectProperties(catalogue, only, options.level, loaded?.config.level);
  if (isProblem(properties)) return properties;
  const named = selectProperties(catalogue, only, 'may');
  const leftOut = isProblem(named) ? [] : named.filter((property) => !properties.includes(property));
  return { properties, leftOut };
}

export interface ChosenKnown {
  /** The user's over those that a ready-made adapter brings along for this version of its trainer, in its settings. */
  readonly of: (hello: Hello) => KnownFailures;
  /** The user's file, absolute, and what it holds. */
  readonly file: string | undefined;
  readonly own: KnownFailures;
}

/** `updating`: a file that is not there yet is an empty one. */
export function knownFor(
  options: ChoiceOptions,
  { choice, loaded }: Pick<Plan, 'choice' | 'loaded'>,
  cwd: string,
  updating = false,
): ChosenKnown | Problem {
  const shipped = bundledKnown(choice);
  const bundled = shipped === undefined ? { causes: [] } : readCauses(shipped);
  if ('problem' in bundled) return bundled;
  const file =
    options.known !== undefined
      ? resolve(cwd, options.known)
      : loaded?.config.known !== undefined
        ? resolve(loaded.folder, loaded.config.known)
        : undefined;
  const own = file === undefined || (updating && !existsSync(file)) ? {} : entriesOf(file);
  if (isProblem(own)) return own as Problem;
  const variables = variablesOf(choice);
  return { of: (hello) => ({ ...knownOf(bundled.causes, hello, variables), ...own }), file, own };
}

function entriesOf(file: string): KnownFailures | Problem {
  const read = readKnown(file);
  return 'problem' in read ? read : read.known;
}

/** What a ready-made adapter's trainer is known to do wrong, each with the case that shows it. */
function bundledKnown(choice: TrainerChoice): string | undefined {
  if (choice.kind !== 'command') return undefined;
  const name = adapterOf(choice.command);
  return name === undefined ? undefined : knownFailuresOf(name);
}

/** What the trainer finds in its environment: ours, and what its command says in front, `env LOSSPROOF_DATA=all python ...`. */
function variablesOf(choice: TrainerChoice): Readonly<Record<string, string | undefined>> {
  const words = choice.kind === 'command' ? choice.command : [];
  const said = words.flatMap((word) => {
    const [, name, value] = /^(LOSSPROOF_\w+)=(.*)$/s.exec(word) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
  return { ...process.env, ...Object.fromEntries(said) };
}
