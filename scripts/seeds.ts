// Many seeds against the bundled trainers, as tables: `correct` (every property, no failure allowed) and `faulty`
// (each caught by a property of the stage named for it, within so many cases). Exit code 1 where a claim does not hold.
//   node dist/scripts/seeds.js correct --seeds 30                 every trainer that is right, two processes at a time
//   node dist/scripts/seeds.js correct --seeds 3 --cases 1000 --trainer gspo
//   node dist/scripts/seeds.js correct --seeds 30 --part 2/8      an eighth of the trainers, to divide hours
//   node dist/scripts/seeds.js faulty --seeds 50 --within 20
import { parseArgs } from 'node:util';
import { execa, execaSync } from 'execa';
import pMap from 'p-map';
import { properties } from '../properties/index.ts';
import { selectProperties } from '../src/cli/check/select.ts';
import {
  loadTokenizer,
  type Property,
  type PropertyResult,
  run,
  startTrainer,
  type Trainer,
} from '../src/index.ts';
import { alarmsOf, type Correct, conventions, EXAMPLES, LEGAL, whileOpen } from './correct.ts';
import { pythonEnvironment } from './python.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    cases: { type: 'string', default: '100' },
    within: { type: 'string', default: '20' },
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

interface Faulty {
  readonly name: string;
  /** A glob over property ids, as the command line takes them: `mask/*`. */
  readonly property_hint: string;
}

async function withTrainer<T>(args: readonly string[], use: (trainer: Trainer) => Promise<T>): Promise<T> {
  const started = await startTrainer({ command: ['python3', '-m', ...args] });
  if ('failure' in started) throw new Error(`${args.join(' ')}: ${started.failure.message}`);
  try {
    return await use(started.trainer);
  } finally {
    await started.trainer.stop();
  }
}

interface Catch {
  readonly id: string;
  /** Cases that the property needed. */
  readonly after: number;
}

async function results(
  trainer: Trainer,
  seed: number,
  chosen: readonly Property[],
  shrinkMilliseconds?: number,
): Promise<readonly PropertyResult[]> {
  const folder = trainer.hello.tokenizer;
  const loaded = folder === undefined ? undefined : await loadTokenizer(folder);
  const tokenizer = loaded !== undefined && 'tokenizer' in loaded ? loaded.tokenizer : undefined;
  return run(
    {
      trainer,
      tokenizer,
      properties: chosen,
      seed,
      cases,
      command: 'seeds',
      ...(shrinkMilliseconds === undefined ? {} : { shrinkMilliseconds }),
    },
    () => undefined,
  );
}

/** Properties by ids or globs, separated by commas, whatever their level. */
function matching(glob: string): readonly Property[] {
  const chosen = selectProperties(properties, glob === '' ? [] : glob.split(','), 'may');
  if ('problem' in chosen) throw new Error(chosen.problem);
  return chosen;
}

/** Two processes, since one has a single thread: each takes every other pair, declared and undeclared together. */
const WORKERS = 2;
/** In each, the process of one trainer answers while the cases of the other are drawn. */
const LANES = 2;

/** `--part I/N`: every Nth, beginning with the Ith, so that the slow ones are spread. */
function inPart<T>(all: readonly T[]): readonly T[] {
  const [, part, parts] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(values.part) ?? [];
  if (part === undefined || Number(part) > Number(parts))
    throw new Error(`--part is ${values.part}; say which of how many, as 2/8`);
  return all.filter((_, at) => at % Number(parts) === Number(part) - 1);
}

async function correct(): Promise<boolean> {
  const named = [...EXAMPLES, ...conventions(), ...LEGAL].filter(({ name }) => name.includes(values.trainer));
  const all = inPart(named);
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
      `${all.length} correct trainers, ${seconds} s: ${good ? 'no alarm' : 'ALARMS, as listed above'}`,
    );
    return good;
  }
  const mine = all.filter((_, at) => Math.floor(at / 2) % WORKERS === Number(values.worker));
  return (await pMap(mine, patient, { concurrency: LANES })).every((calm) => calm);
}

/** All seeds against one correct trainer, as one line. */
async function patient(each: Correct): Promise<boolean> {
  return whileOpen(each, async (judge) => {
    const began = performance.now();
    const chosen = matching(values.only ?? '');
    const counts = new Map<string, number>();
    const alarms = new Set<string>();
    for (let seed = from; seed < from + seeds; seed++) {
      const found = await judge(chosen, seed, cases);
      for (const { verdict } of found) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      for (const alarm of alarmsOf(found)) alarms.add(`  seed ${seed}: ${alarm}`);
    }
    const tallies = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ');
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log([`${each.name.padEnd(28)} ${seconds.padStart(6)} s  ${tallies}`, ...alarms].join('\n'));
    return alarms.size === 0;
  });
}

async function faulty(): Promise<boolean> {
  const { stdout } = execaSync('python3', ['-m', 'lossproof.examples.faulty', '--list'], {
    env: pythonEnvironment(),
  });
  const within = Number(values.within);
  let good = true;
  console.log(`${'faulty trainer'.padEnd(26)}${'stage'.padEnd(14)}seeds  median  worst  first most often`);
  for (const { name, property_hint: hint } of JSON.parse(stdout) as Faulty[]) {
    const chosen = matching(hint);
    await withTrainer(['lossproof.examples.faulty', name], async (started) => {
      // Not asked whether a fresh process fails as well: a restart a failure would take most of the time.
      const trainer = { ...started, restart: async () => {} };
      const catches: Catch[] = [];
      for (let seed = from; seed < from + seeds; seed++) {
        const earliest = first(await results(trainer, seed, chosen, 0));
        if (earliest !== undefined) catches.push(earliest);
      }
      const needed = catches.map(({ after }) => after).sort((a, b) => a - b);
      const median = needed[Math.floor((needed.length - 1) / 2)];
      const worst = needed.at(-1);
      if (needed.length < seeds || worst === undefined || worst > within) good = false;
      console.log(
        `${name.padEnd(26)}${hint.padEnd(14)}${`${needed.length}/${seeds}`.padStart(5)}  ${String(median).padStart(6)}  ${String(worst).padStart(5)}  ${mostOften(catches.map(({ id }) => id))}`,
      );
    });
  }
  return good;
}

/** The property that needed the fewest cases; of equal ones the first in the catalogue's order. */
function first(all: readonly PropertyResult[]): Catch | undefined {
  return all
    .filter(({ verdict }) => verdict === 'fail')
    .map(({ id, failure }) => ({ id, after: failure?.casesToFail ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.after - b.after)[0];
}

function mostOften(ids: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most === undefined ? 'none' : `${most[0]} (${most[1]})`;
}

const tables: Record<string, () => Promise<boolean>> = { correct, faulty };
let holds = true;
for (const table of positionals.length > 0 ? positionals : Object.keys(tables)) {
  const make = tables[table];
  if (make === undefined)
    throw new Error(`No table "${table}"; there are ${Object.keys(tables).join(' and ')}.`);
  holds = (await make()) && holds;
}
process.exitCode = holds ? 0 : 1;
