// What the build writes out of the command line beside the program itself: the table that shell completion reads. Run by
// scripts/build.mjs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableOf } from '../../src/cli/completion/table.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { lists } from './lists.ts';
import { wholeProgram } from './program.ts';

writeFileSync(
  join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'completion', 'table.json'),
  JSON.stringify(tableOf(wholeProgram(), lists())),
);
