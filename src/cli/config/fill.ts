// One value of a matrix put into the configuration of one trainer: as a key, or where its name stands in braces.
import { isProblem, type Problem } from '../context.ts';
import { splitCommand } from '../trainer/words.ts';
import type { Config, MatrixValue, TrainerConfig } from './define.ts';
import { TRAINER_KEYS } from './trainer-keys.ts';

const SEMANTICS = 'semantics.';

/** The key that a name of a matrix sets, where it is one: `tokenizer`, `level`, `semantics.kl_estimator`. */
export function keyOf(name: string): string | undefined {
  if (name.startsWith(SEMANTICS)) return name;
  return SETTABLE.includes(name) ? name : undefined;
}

/** Keys whose value can be one text, number or flag. Trainers have names, and are told apart by these. */
export const SETTABLE: readonly string[] = Object.keys(TRAINER_KEYS).filter(
  (key) => key !== 'trainer' && key !== 'semantics',
);

/** A value of its own, which a matrix does not change. */
export function saysItself(entry: TrainerConfig, key: string): boolean {
  return valueAt(entry, key) !== undefined;
}

function valueAt(config: TrainerConfig, key: string): unknown {
  const { semantics, ...rest } = config as Readonly<Record<string, unknown>> & TrainerConfig;
  if (!key.startsWith(SEMANTICS)) return (rest as Readonly<Record<string, unknown>>)[key];
  return (semantics as Readonly<Record<string, unknown>> | undefined)?.[key.slice(SEMANTICS.length)];
}

/** Whether the value may stand there is asked of the whole that comes out. */
export function withKey(config: Config, key: string, value: MatrixValue): Config {
  if (!key.startsWith(SEMANTICS)) return { ...config, [key]: value };
  return { ...config, semantics: { ...config.semantics, [key.slice(SEMANTICS.length)]: value } };
}

/** `{name}` stands somewhere in its texts. */
export function isNamedIn(name: string, config: Config): boolean {
  return [...textsIn(speaking(config))].some((text) => text.includes(`{${name}}`));
}

/**
 * Every `{name}` that has a value replaced by it, in one pass: a value is never filled in itself. A command becomes words
 * before, so that a value stays within its word, whatever stands in it. Braces around anything else are the user's own.
 */
export function filled(config: Config, values: Readonly<Record<string, MatrixValue>>): Config | Problem {
  const { trainer } = config;
  const words = typeof trainer === 'string' ? splitCommand(trainer) : undefined;
  if (words !== undefined && isProblem(words)) return words;
  const fill = (text: string): string =>
    text.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? String(values[name]) : whole,
    );
  const split: Config = words === undefined ? config : { ...config, trainer: words };
  return { ...split, ...(mapTexts(speaking(split), fill) as Config) };
}

/** What is said of the trainer; one that is an object has functions, and no texts to fill in. */
function speaking(config: Config): Readonly<Record<string, unknown>> {
  const isText = typeof config.trainer === 'string' || Array.isArray(config.trainer);
  return Object.fromEntries(
    Object.entries(config).filter(
      ([key]) => Object.hasOwn(TRAINER_KEYS, key) && (key !== 'trainer' || isText),
    ),
  );
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, change)]));
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) yield* textsIn(each);
}
