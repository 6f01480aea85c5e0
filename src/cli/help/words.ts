// What is said of a command beside its options: examples, exit codes, notes. Told once, where the command is; its
// `--help` and a test that runs every example through the parser are made from it.
import type { Command } from 'commander';

export interface Words {
  /** The most telling first: a long help shows a few. */
  readonly examples: readonly Example[];
  /** What each exit code says of this command. */
  readonly exit?: Readonly<Record<number, string>>;
  /** Paragraphs. */
  readonly notes?: readonly string[];
  /** What must keep its lines, under a heading. */
  readonly listing?: { readonly heading: string; readonly lines: readonly string[] };
}

/** As typed with npx, and what it does where the words themselves do not say. */
export interface Example {
  readonly command: string;
  readonly does?: string;
}

const told = new WeakMap<Command, Words>();

export function tell(command: Command, words: Words): Command {
  told.set(command, words);
  return command;
}

export function wordsOf(command: Command): Words {
  return told.get(command) ?? { examples: [] };
}

/** `golden check`: the words behind `lossproof` that name it. */
export function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}
