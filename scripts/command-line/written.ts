// What the build writes out of the command line beside the program itself: dist/man, a page a command, and the table that
// shell completion reads. Run by scripts/build.mjs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableOf } from '../../src/cli/completion/table.ts';
import { manPages } from '../../src/cli/help/man.ts';
import { PACKAGE_ROOT, VERSION } from '../../src/version.ts';
import { lists } from './lists.ts';
import { wholeProgram } from './program.ts';

const man = join(PACKAGE_ROOT, 'dist', 'man');
mkdirSync(man, { recursive: true });
const program = wholeProgram();
for (const { file, text } of manPages(program, VERSION)) writeFileSync(join(man, file), text);
writeFileSync(
  join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'completion', 'table.json'),
  JSON.stringify(tableOf(program, lists())),
);
