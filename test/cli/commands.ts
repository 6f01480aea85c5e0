// The commands of the program, read off it: a table of a test that has a row for each cannot lack one.
import type { Command } from 'commander';
import type { Context } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';

const SILENT: Context['out'] = { write: () => {}, isTty: false, columns: 80 };

/** Nothing is run in it. */
const NOWHERE: Context = {
  cwd: '/',
  env: {},
  out: SILENT,
  err: SILENT,
  properties: async () => [],
  onInterrupt: () => () => {},
  exitNow: () => {},
};

/** With every command, and, for the whole help, with every option; it is read, and none of it run. */
export const makeProgram = (isHelpWhole = false): Promise<Command> =>
  buildProgram({ context: NOWHERE, rest: [], finish: () => {} }, { isHelpWhole });

/** `check`, `golden record`, ...: commands without commands of their own, in order. */
export async function commandNames(): Promise<readonly string[]> {
  return leaves(await makeProgram())
    .filter((name) => name !== 'help')
    .sort();
}

function leaves(command: Command, path: readonly string[] = []): string[] {
  return command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
}
