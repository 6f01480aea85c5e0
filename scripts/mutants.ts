// The matrix mutant x property: who kills whom, after how many cases. Exit code 1 where a mutant survives or a
// property kills none.
//   node dist/scripts/mutants.js [--seed 1] [--cases 100] [--only ID]
import { parseArgs } from 'node:util';
import { kills, listMutants, propertyIds } from './matrix.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    cases: { type: 'string', default: '100' },
    only: { type: 'string' },
  },
});

const toothless = new Set(propertyIds);
const survivors: string[] = [];
for (const mutant of listMutants().filter(({ id }) => values.only === undefined || id === values.only)) {
  const { by, results } = await kills(mutant, Number(values.seed), Number(values.cases));
  for (const id of by.keys()) toothless.delete(id);
  const errors = results.filter(({ verdict }) => verdict === 'error').map(({ id }) => id);
  if (by.size === 0) survivors.push(mutant.id);
  const first = Math.min(...by.values());
  console.log(
    `${mutant.id.padEnd(36)} ${by.size === 0 ? 'SURVIVES' : `${String(by.size).padStart(2)} kill it, the first after ${first}: ${[...by.keys()].join(' ')}`}${errors.length > 0 ? ` (errors: ${errors.join(' ')})` : ''}`,
  );
}
console.log(`${survivors.length} survive: ${survivors.join(' ') || 'none'}`);
if (values.only === undefined) {
  console.log(`${toothless.size} properties kill nothing: ${[...toothless].join(' ') || 'none'}`);
  process.exitCode = survivors.length + toothless.size > 0 ? 1 : 0;
}
