import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FINETUNES, nameOf, trainingsOf } from '../../test/torch/monitor/finetunes.ts';
import { canCompare, trained } from '../../test/torch/monitor/runs.ts';
import { writeMeasured } from '../docs/measured.ts';
import { amongHealthy, readAll } from './read.ts';
import { problemsOf, tableOf } from './table.ts';

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

if (values.write) writeMeasured('measurements.md', 'monitor trained', lines);
