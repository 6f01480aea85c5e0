// The generated documents: docs/properties.md, docs/relations.md, docs/bugs.md, docs/practice.md, docs/deadlines.md, docs/detection.md, docs/configuration.md with its schema, the
// pictures of the glossary, the table that ARCHITECTURE.md opens with, the exit codes of docs/hostile.md, the legal choices in docs/events.schema.json, and these and the ops in PROTOCOL.md and the SDK. With --check: exit code 1 where a file is stale.
//   node dist/scripts/docs/docs.js [--check]
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { withReady } from '../trainers/ready.ts';
import { withResults } from '../trainers/results.ts';
import { bugPage } from './bug-page.ts';
import { withChoiceSchema, withChoices } from './choice-tables.ts';
import { configPage } from './config-page.ts';
import { configSchema } from './config-schema.ts';
import { deadlinesPage } from './deadlines.ts';
import { detectionPage } from './detection-page.ts';
import { withExitCodes } from './exit-codes.ts';
import { findingsPage } from './findings.ts';
import { pictures } from './glossary.ts';
import { withHouseTable } from './house-table.ts';
import { knownPage } from './known-page.ts';
import { withArguments, withOpTables } from './op-tables.ts';
import { practicePage } from './practice-page.ts';
import { propertyTable } from './property-table.ts';
import { withProposedOps } from './proposed.ts';
import { relationPage } from './relation-page.ts';

const page = (name: string): string => readFileSync(join(PACKAGE_ROOT, name), 'utf8');

for (const [name, text] of [
  ['PROTOCOL.md', withChoices(withOpTables(page('PROTOCOL.md')))],
  ['src/python/lossproof/_ops.py', withArguments(page('src/python/lossproof/_ops.py'))],
  ['ARCHITECTURE.md', withHouseTable(page('ARCHITECTURE.md'))],
  ['docs/properties.md', propertyTable()],
  ['docs/relations.md', relationPage()],
  ['docs/bugs.md', bugPage()],
  ['docs/configuration.md', configPage()],
  ['docs/deadlines.md', await deadlinesPage()],
  ['docs/detection.md', detectionPage()],
  ['docs/discover.md', withProposedOps(page('docs/discover.md'))],
  ['docs/hostile.md', withExitCodes(page('docs/hostile.md'))],
  ['docs/practice.md', practicePage()],
  ['docs/trainers/README.md', withResults(withReady(page('docs/trainers/README.md')))],
  ['docs/trainers/known.md', knownPage()],
  ['docs/trainers/findings/README.md', findingsPage()],
  ['docs/config.schema.json', configSchema()],
  ['docs/events.schema.json', withChoiceSchema(page('docs/events.schema.json'))],
  ...[...pictures()].map(([file, svg]) => [`docs/pictures/${file}`, svg] as const),
] as const) {
  const file = join(PACKAGE_ROOT, name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${name} is stale: run \`npm run docs\`.`);
    process.exitCode = 1;
  }
}
