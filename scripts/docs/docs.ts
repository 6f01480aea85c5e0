// The generated documents: docs/properties.md, docs/bugs.md, docs/configuration.md with its schema, and the pictures of the glossary. With --check: exit code 1
// where a file is stale.
//   node dist/scripts/docs/docs.js [--check]
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { bugPage } from './bug-page.ts';
import { configPage } from './config-page.ts';
import { configSchema } from './config-schema.ts';
import { pictures } from './glossary.ts';
import { propertyTable } from './property-table.ts';

for (const [name, text] of [
  ['properties.md', propertyTable()],
  ['bugs.md', bugPage()],
  ['configuration.md', configPage()],
  ['config.schema.json', configSchema()],
  ...[...pictures()].map(([file, svg]) => [join('pictures', file), svg] as const),
] as const) {
  const file = join(PACKAGE_ROOT, 'docs', name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`docs/${name} is stale: run \`npm run docs\`.`);
    process.exitCode = 1;
  }
}
