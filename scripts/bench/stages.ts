// Where the seconds of `npm run check` go: start, each stage, and the trainer's own against ours; and what it takes to find
// and to shrink the failures of the six faulty trainers of the tour. Processor time, in a process of its own each round.
//   npm run bench:stages [-- --write] [--rounds 5]      --write: into docs/benchmarks.md
import '../../src/cli/heap.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { properties } from '../../properties/index.ts';
import { runProgram } from '../../src/cli/program.ts';
import { type Property, run } from '../../src/index.ts';
import { listMutants, withMutant } from '../../test/mutants/list.ts';
import { median } from './scaling/exponents.ts';
import { trainersOf } from './scaling/processes.ts';
import { machine, openSheet } from './shared.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 3;
const SEED = 1;
const CASES = 100;
const START = 'start, until the first property';
const FOUND = 'six faulty trainers, until each has failed';
const SHRUNK = 'and shrinking of what failed';
/** Starting the faulty ones. */
const ELSE = 'else';
/** Stages that take a smaller part of all are one row. */
const LEAST_SHARE = 0.02;

/** Seconds of processor time. */
interface Cost {
  readonly engine: number;
  readonly trainer: number;
}
type Costs = Record<string, Cost>;

if (process.argv[2] === 'once') process.stdout.write(`${JSON.stringify(await once())}\n`);
else summary(Array.from({ length: rounds }, again));

function again(): Costs {
  const words = [process.argv[1] ?? '', 'once'];
  return JSON.parse(execaSync(process.execPath, words, { stderr: 'inherit' }).stdout) as Costs;
}

async function once(): Promise<Costs> {
  const costs: Costs = {};
  let at = START;
  let before: Cost = { engine: 0, trainer: 0 };
  /** Of each trainer that there was. */
  const trainers = new Map<number, number>();
  /** What was spent since the last look was for `at`. */
  const look = (next: string): void => {
    const { user, system } = process.cpuUsage();
    for (const { pid, seconds } of trainersOf(process.pid)) trainers.set(pid, seconds);
    const trainer = [...trainers.values()].reduce((all, seconds) => all + seconds, 0);
    const now = { engine: (user + system) / 1e6, trainer };
    const cost = costs[at] ?? { engine: 0, trainer: 0 };
    costs[at] = {
      engine: cost.engine + now.engine - before.engine,
      trainer: cost.trainer + now.trainer - before.trainer,
    };
    before = now;
    at = next;
  };
  // Asked for its cases, a property begins.
  const watched = properties.map(
    (property): Property => ({
      ...property,
      given(world) {
        look(property.stage);
        return property.given(world);
      },
    }),
  );
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-stages-'));
  const silent = { write: () => undefined, isTty: false, columns: 100 };
  await runProgram(['check', '--bundled', '--seed', String(SEED)], {
    cwd: folder,
    env: process.env,
    out: silent,
    err: { ...silent, write: (text) => void process.stderr.write(text) },
    properties: async () => watched,
    onInterrupt: () => () => undefined,
    exitNow: (code) => process.exit(code),
  });
  look(ELSE);
  rmSync(folder, { recursive: true });
  await faulty(look);
  return costs;
}

/** Of each its properties that fail, once as they are drawn and once made small. */
async function faulty(look: (next: string) => void): Promise<void> {
  const tour = listMutants().filter(({ family }) => family === undefined);
  for (const [at, mutant] of tour.entries())
    await withMutant(mutant, async (trainer, { tokenizer }) => {
      const chosen = properties.filter(({ ops }) => ops.some((op) => mutant.ops.includes(op)));
      const judged = (shrinkMilliseconds?: number) =>
        run(
          {
            // A restart a failure, to ask a fresh process, would take most of the time.
            trainer: { ...trainer, restart: async () => {} },
            tokenizer,
            properties: chosen,
            seed: SEED,
            cases: CASES,
            command: 'bench',
            ...(shrinkMilliseconds === undefined ? {} : { shrinkMilliseconds }),
          },
          () => undefined,
        );
      // In turn, since the second of two finds its code compiled.
      for (const name of at % 2 === 0 ? [FOUND, SHRUNK] : [SHRUNK, FOUND]) {
        look(name);
        await judged(name === FOUND ? 0 : undefined);
      }
      look(ELSE);
    });
}

function summary(all: readonly Costs[]): void {
  const names = Object.keys(all[0] ?? {});
  const of = (name: string, part: (cost: Cost) => number): number =>
    median(all.map((costs) => part(costs[name] ?? { engine: 0, trainer: 0 })));
  const rows = names.map((name) => ({
    name,
    engine: of(name, ({ engine }) => engine),
    trainer: of(name, ({ trainer }) => trainer),
  }));
  const whole = rows.filter(({ name }) => ![FOUND, SHRUNK, ELSE].includes(name));
  const total = sum(whole);
  const [large, small] = [true, false].map((isLarge) =>
    whole
      .filter((row) => row.engine + row.trainer >= LEAST_SHARE * (total.engine + total.trainer) === isLarge)
      .sort((a, b) => b.engine + b.trainer - a.engine - a.trainer),
  ) as [typeof rows, typeof rows];
  const [found, shrunk] = [FOUND, SHRUNK].map((name) => rows.find((row) => row.name === name));
  const { print, table, end } = openSheet();
  print(
    `${machine()}; seconds of processor time, each time in a new process; of ${all.length} rounds the medians.`,
  );
  print('');
  const cells = (name: string, { engine, trainer }: Cost): string[] => [
    name,
    engine.toFixed(2),
    trainer.toFixed(2),
    `${((100 * (engine + trainer)) / (total.engine + total.trainer)).toFixed(0)} %`,
  ];
  table(
    ['`npm run check`', 'engine', 'trainer', 'of all'],
    [
      ...large.map((row) => cells(row.name, row)),
      cells(`${small.length} other stages`, sum(small)),
      cells('all', total),
      ...(found === undefined ? [] : [cells(FOUND, found)]),
      ...(found === undefined || shrunk === undefined
        ? []
        : [
            cells(SHRUNK, {
              engine: Math.max(0, shrunk.engine - found.engine),
              trainer: Math.max(0, shrunk.trainer - found.trainer),
            }),
          ]),
    ],
  );
  end('stages');
}

function sum(rows: readonly Cost[]): Cost {
  return rows.reduce(
    (all, { engine, trainer }) => ({ engine: all.engine + engine, trainer: all.trainer + trainer }),
    { engine: 0, trainer: 0 },
  );
}
