// The commands of the program, read off it: a table of a test that has a row for each cannot lack one.
import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';
import { makeWorld } from './world.ts';

/** `check`, `golden record`, ...: commands without commands of their own, in order. For use in a test. */
export function commandNames(): readonly string[] {
  const program = buildProgram({ context: makeWorld().context, rest: [], finish: () => {} });
  return leaves(program)
    .filter((name) => name !== 'help')
    .sort();
}

function leaves(command: Command, path: readonly string[] = []): string[] {
  return command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
}
