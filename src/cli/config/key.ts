// What is known of a key of a configuration, and the rules that several keys share.
import {
  amountUpTo,
  eitherOf,
  filled,
  flag,
  number,
  oneOf,
  type Rule,
  someOf,
} from '../../protocol/rules.ts';
import { LEVELS } from '../../vocabulary.ts';

export interface ConfigKey<T = unknown> {
  readonly rule: Rule<T>;
  /** What the value must be, in words: `"cases" must be ...`. */
  readonly must: string;
  /** What it is for, as the comment in define.ts has it. */
  readonly description: string;
  /** What holds where the key is absent: the value, or words where there is no such value. */
  readonly default?: T;
  readonly without?: string;
  readonly example: T;
  /** The rule tells which part of the value is wrong, better than `must`. */
  readonly detailed?: true;
  /** Of an object: its keys. */
  readonly keys?: Readonly<Record<string, ConfigKey>>;
  /** Of an object of objects with names of the user's: the keys of each. */
  readonly each?: Readonly<Record<string, ConfigKey>>;
}

export type KeysOf<T> = { readonly [K in keyof T]-?: ConfigKey<Exclude<T[K], undefined>> };

export const LEVEL = oneOf(...LEVELS);
export const LEVEL_WORDS = '"must", "should" or "may"';
export const NAMES = eitherOf<string | readonly string[]>(filled, someOf(filled));

/** Beyond 24 days the engine's timers fire at once. */
export const MOST_SECONDS = 2_000_000;
export const WAIT: Rule<number> = amountUpTo(MOST_SECONDS);

/** A value that a word of a command can be made of. */
export const SCALAR = eitherOf<string | number | boolean>(filled, number, flag);

/** What `record` asks of a table of keys. */
export function rulesOf(keys: Readonly<Record<string, ConfigKey>>): Readonly<Record<string, Rule>> {
  return Object.fromEntries(Object.entries(keys).map(([name, { rule }]) => [name, rule]));
}
