// The program as it is shown, with every option: nothing is run by it.
import type { Command } from 'commander';
import type { Context } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';

export function wholeProgram(): Command {
  return buildProgram({ context: NOWHERE, rest: [], finish: () => {} }, true);
}

const SILENT: Context['out'] = { write: () => {}, isTty: false, columns: 80 };

const NOWHERE: Context = {
  cwd: '/',
  env: {},
  out: SILENT,
  err: SILENT,
  properties: async () => [],
  onInterrupt: () => () => {},
  exitNow: () => {},
};
