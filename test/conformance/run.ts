// The conformance suite: every correct trainer through the whole catalogue at many seeds, a line each. No property may fail
// one: that would be a false positive, and exit code 1.
//   node dist/test/conformance/run.js --seeds 30                 two processes at a time
//   node dist/test/conformance/run.js --seeds 3 --cases 1000 --trainer gspo
//   node dist/test/conformance/run.js --seeds 30 --part 2/8      an eighth of the trainers, to divide hours
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import pMap from 'p-map';
import { properties } from '../../properties/index.ts';
import { selectProperties } from '../../src/cli/check/select.ts';
import type { Property } from '../../src/index.ts';
import { inPart } from '../part.ts';
import { type Correct, conventions, EXAMPLES, falsePositivesOf, LEGAL, whileOpen } from './correct.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    cases: { type: 'string', default: '100' },
    only: { type: 'string' },
    trainer: { type: 'string', default: '' },
    part: { type: 'string', default: '1/1' },
    worker: { type: 'string' },
  },
});
const seeds = Number(values.seeds);
/** The first seed. */
const from = Number(values.from);
const cases = Number(values.cases);

/** Two processes, since one has a single thread: each takes every other pair, declared and undeclared together. */
const WORKERS = 2;
/** In each, the process of one trainer answers while the cases of the other are drawn. */
const LANES = 2;

process.exitCode = (await correct()) ? 0 : 1;

/** Properties by ids or globs, separated by commas, whatever their level. */
function matching(glob: string): readonly Property[] {
  const chosen = selectProperties(properties, glob === '' ? [] : glob.split(','), 'may');
  if ('problem' in chosen) throw new Error(chosen.problem);
  return chosen;
}

async function correct(): Promise<boolean> {
  const named = [...EXAMPLES, ...conventions(), ...LEGAL].filter(({ name }) => name.includes(values.trainer));
  const all = inPart(named, values.part);
  if (values.worker === undefined) {
    const began = performance.now();
    const workers = Array.from({ length: WORKERS }, (_, worker) =>
      execa(process.execPath, [...process.argv.slice(1), '--worker', String(worker)], {
        stdio: 'inherit',
        reject: false,
      }),
    );
    const codes = (await Promise.all(workers)).map(({ exitCode }) => exitCode);
    const good = codes.every((code) => code === 0);
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(
      `${all.length} correct trainers, ${seconds} s: ${good ? 'no false positive' : 'FALSE POSITIVES, as listed above'}`,
    );
    return good;
  }
  const mine = all.filter((_, at) => Math.floor(at / 2) % WORKERS === Number(values.worker));
  return (await pMap(mine, judged, { concurrency: LANES })).every((right) => right);
}

/** All seeds against one correct trainer, as one line. */
async function judged(each: Correct): Promise<boolean> {
  return whileOpen(each, async (judge) => {
    const began = performance.now();
    const chosen = matching(values.only ?? '');
    const counts = new Map<string, number>();
    const falsePositives = new Set<string>();
    for (let seed = from; seed < from + seeds; seed++) {
      const found = await judge(chosen, seed, cases);
      for (const { verdict } of found) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      for (const blamed of falsePositivesOf(found, each)) falsePositives.add(`  seed ${seed}: ${blamed}`);
    }
    const tallies = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ');
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(
      [`${each.name.padEnd(28)} ${seconds.padStart(6)} s  ${tallies}`, ...falsePositives].join('\n'),
    );
    return falsePositives.size === 0;
  });
}
