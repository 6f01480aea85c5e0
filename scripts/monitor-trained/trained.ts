// Trains small models for real, healthy and with one fault each, and says what `lossproof monitor` finds in their logs.
// `npm run monitor:trained`; some seconds a training, on two cores. One that is there is not trained again.
//   npm run monitor:trained -- --only sft/ --seeds 1 --folder /tmp/trained
//   npm run monitor:trained -- --seeds 3 --write        the table into docs/monitor.md
// Exit code 1 where a healthy run is blamed, or a fault that a log shows is missed in one.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { FINETUNES, nameOf, trainingsOf } from '../../test/torch/monitor/finetunes.ts';
import { canCompare, trained } from '../../test/torch/monitor/runs.ts';
import { amongHealthy, readAll } from './read.ts';
import { problemsOf, tableOf } from './table.ts';

const PAGE = join(PACKAGE_ROOT, 'docs', 'monitor.md');
const [BEGIN, END] = ['<!-- trained -->\n', '<!-- /trained -->'];

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '3' },
    /** Parts of METHOD/FAULT; several may be given. */
    only: { type: 'string', multiple: true, default: [''] },
    /** Where the logs are, or come to be: METHOD/FAULT/seed-N. */
    folder: { type: 'string', default: join(tmpdir(), 'lossproof-trained') },
    write: { type: 'boolean', default: false },
  },
});
const seeds = Number(values.seeds);
const { folder } = values;
const asked = FINETUNES.filter((each) => values.only.some((part) => nameOf(each).includes(part)));

const model = join(folder, 'base');
const named = asked.map((each) => [nameOf(each), trainingsOf(each, seeds, model)] as const);
await trained(Object.fromEntries(named), { mayDie: true, folder });

const compares = await canCompare();
const read = await readAll(asked, { folder, seeds, compares });
const pairs = compares ? await amongHealthy(asked, { folder, seeds }) : undefined;
const lines = tableOf(read, pairs);
for (const line of lines) console.log(line);
const problems = problemsOf(read, pairs);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

if (values.write) {
  const page = readFileSync(PAGE, 'utf8');
  const [start, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  if (page.indexOf(BEGIN) === -1 || end < start) throw new Error(`${PAGE} has no place for the table`);
  writeFileSync(PAGE, `${page.slice(0, start)}${lines.join('\n')}\n${page.slice(end)}`);
}
