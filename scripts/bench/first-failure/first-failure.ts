// Cases to the first failure: of the six faulty trainers of the tour, and of a mutant of each listed bug that has one, with
// our generators and with cases of the same types drawn uniformly (uniform.ts), over many seeds. Both are asked the same
// properties: those that find the mutant with ours. A uniform case on which the correct trainer does not hold, since it is
// none, is drawn again and not counted: in the baseline's favour.
//   npm run bench:first-failure [-- --write] [--seeds 20] [--only tour|ID]      --write: into docs/benchmarks.md
import '../../../src/cli/heap.ts';
import { parseArgs } from 'node:util';
import { properties } from '../../../properties/index.ts';
import { bugs } from '../../../src/bugs/index.ts';
import { drawSeed } from '../../../src/check/cases.ts';
import { runCase } from '../../../src/check/subject.ts';
import { fc, type Property, startTrainer, type Trainer, type World, worldOf } from '../../../src/index.ts';
import { listMutants, withMutant } from '../../../test/mutants/list.ts';
import type { Mutant } from '../../../test/mutants/mutant.ts';
import { matrixRow } from '../../../test/mutation/matrix.ts';
import { pythonEnvironment } from '../../python.ts';
import { machine, openSheet } from '../shared.ts';
import { uniformLike } from './uniform.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);

/** The goal: of a bug fewer cases than this, or a tenth of the uniform ones. */
const FEW = 5;
const TENTH = 10;
/** No more are drawn of either. */
const MOST_CASES = 100;
/** Of those that the correct trainer does not hold on. */
const MOST_IN_VAIN = 400;
const CHUNK = 16;
const SAMPLE = 300;
const SAMPLE_SEED = 20_000;
/** Rows of the table: the worst, the others are in the summary. */
const SHOWN = 10;

interface Found {
  readonly mutant: Mutant;
  /** A seed each; Infinity: not within the most. */
  readonly ours: readonly number[];
  readonly uniform: readonly number[];
}

const all = listMutants();
const tour = all.filter(({ family, base }) => family === undefined && base !== 'object');
const listed = bugs.flatMap(({ id }) => {
  // A mutant in TypeScript has no correct trainer beside it, by which a uniform case could be told to be one.
  const first = all.find((mutant) => mutant.family !== undefined && mutant.rows[0] === id && hasBase(mutant));
  return first === undefined ? [] : [first];
});
const isAsked = ({ id, rows }: Mutant): boolean => [id, ...rows].includes(values.only ?? id);
const bases = new Map<string, Promise<Trainer>>();
const { print, table, miss, end } = openSheet();
try {
  const seedBugs = await foundOf(values.only === undefined || values.only === 'tour' ? tour : []);
  const others = await foundOf(values.only === 'tour' ? [] : listed.filter(isAsked));
  summary(seedBugs, others);
} finally {
  for (const base of bases.values()) await (await base).stop();
}

function hasBase({ base }: Mutant): boolean {
  return ['left_padded', 'stop_excluded'].includes(base);
}

async function foundOf(mutants: readonly Mutant[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const mutant of mutants) {
    const { by, later, perSeed } = await matrixRow(mutant, {
      seeds,
      cases: MOST_CASES,
      shrinkMilliseconds: 0,
    });
    const killers = properties.filter(({ id }) => by.has(id) || later.includes(id));
    const ours = perSeed.map((cases) => cases ?? Number.POSITIVE_INFINITY);
    const uniform = await uniformOf(mutant, killers);
    found.push({ mutant, ours, uniform });
    process.stderr.write(
      `${mutant.id}: ${at(ours, 0.5)}, worst ${at(ours, 1)}; uniform ${at(uniform, 0.5)}\n`,
    );
  }
  return found;
}

function baseOf({ base }: Mutant): Promise<Trainer> {
  const known = bases.get(base) ?? started(`lossproof.examples.${base}`);
  bases.set(base, known);
  return known;
}

async function started(module: string): Promise<Trainer> {
  const opened = await startTrainer({ command: ['python3', '-m', module], env: pythonEnvironment() });
  if ('failure' in opened) throw new Error(`${module}: ${opened.failure.message}`);
  return opened.trainer;
}

/** Of each seed the fewest uniform cases that any of these properties needs. */
async function uniformOf(mutant: Mutant, killers: readonly Property[]): Promise<number[]> {
  const base = await baseOf(mutant);
  return withMutant(mutant, async (trainer, world) => {
    const right = worldOf(base, world.tokenizer);
    const asked = killers.map((property) => {
      const sample = fc.sample(property.given(world), { seed: SAMPLE_SEED, numRuns: SAMPLE });
      return { property, arbitrary: uniformLike(sample) };
    });
    const perSeed: number[] = [];
    for (const seed of seeds) {
      let fewest = Number.POSITIVE_INFINITY;
      for (const { property, arbitrary } of asked) {
        const most = Math.min(MOST_CASES, property.mostCases ?? MOST_CASES, fewest - 1);
        const own = { seed: drawSeed(seed, property), most };
        fewest = Math.min(
          fewest,
          await casesTo(property, arbitrary, own, { trainer, world }, { trainer: base, world: right }),
        );
      }
      perSeed.push(fewest);
    }
    return perSeed;
  });
}

interface Asked {
  readonly trainer: Trainer;
  readonly world: World;
}

async function casesTo(
  property: Property,
  arbitrary: fc.Arbitrary<unknown>,
  { seed, most }: { readonly seed: number; readonly most: number },
  wrong: Asked,
  right: Asked,
): Promise<number> {
  let [counted, vain] = [0, 0];
  const holds = async ({ trainer, world }: Asked, given: unknown): Promise<boolean> => {
    try {
      return (await runCase(property, trainer, world, given)).kind === 'holds';
    } catch {
      return false; // a check that cannot lay it out
    }
  };
  for (let chunk = 0; counted < most && vain < MOST_IN_VAIN; chunk += 1)
    for (const given of fc.sample(arbitrary, { seed: seed + chunk, numRuns: Math.min(most, CHUNK) })) {
      if (counted === most) break;
      if (!(await holds(right, given))) {
        vain += 1;
        continue;
      }
      counted += 1;
      const outcome = await runCase(property, wrong.trainer, wrong.world, given).catch(() => undefined);
      if (outcome === undefined || outcome.kind === 'fails' || outcome.kind === 'error') return counted;
    }
  return Number.POSITIVE_INFINITY;
}

function summary(seedBugs: readonly Found[], others: readonly Found[]): void {
  print(
    `${machine()}; seeds 1 to ${seeds.length}, at most ${MOST_CASES} cases${others.length > 0 ? `; of ${others.length} of ${bugs.length} listed bugs a mutant each` : ''}.`,
  );
  print('');
  const cells = (name: string, ours: readonly number[], uniform: readonly number[]): string[] => [
    name,
    ...[0.5, 0.9, 1].map((share) => at(ours, share)),
    ...[0.5, 0.9, 1].map((share) => at(uniform, share)),
  ];
  const both = (found: readonly Found[], name: string): string[] =>
    cells(
      name,
      found.flatMap(({ ours }) => ours),
      found.flatMap(({ uniform }) => uniform),
    );
  const worst = others
    .toSorted((a, b) => most(b.ours) - most(a.ours) || mean(b.ours) - mean(a.ours))
    .slice(0, SHOWN);
  table(
    ['cases to the first failure', 'median', '90th', 'worst', 'uniform: median', '90th', 'worst'],
    [
      ...seedBugs.map(({ mutant, ours, uniform }) => cells(`\`${mutant.id}\``, ours, uniform)),
      ...(seedBugs.length > 0 ? [both(seedBugs, 'the six together')] : []),
      ...(others.length > 0 ? [both(others, `${others.length} listed bugs together`)] : []),
      ...worst.map(({ mutant, ours, uniform }) => cells(`\`${mutant.id}\``, ours, uniform)),
    ],
  );
  const short = others.filter((found) => !isGood(found, 0.5));
  if (others.length > 0) {
    print('');
    print(
      `Of the listed bugs ${others.length - short.length} are found within fewer than ${FEW} cases or a tenth of the uniform ones, at the median seed; ${others.filter(({ uniform }) => rank(uniform, 0.5) === Infinity).length} the uniform cases do not find.`,
    );
  }
  for (const found of seedBugs.filter((each) => !isGood(each, 1)))
    miss(
      `${found.mutant.id} takes ${at(found.ours, 1)} cases at the worst seed, and uniformly ${at(found.uniform, 1)}`,
    );
  for (const found of short)
    miss(
      `${found.mutant.id} takes ${at(found.ours, 0.5)} cases at the median seed, and uniformly ${at(found.uniform, 0.5)}`,
    );
  end('first-failure');
}

function isGood({ ours, uniform }: Found, share: number): boolean {
  const [own, theirs] = [rank(ours, share), rank(uniform, share)];
  return own < FEW || own * TENTH <= Math.min(theirs, MOST_CASES + 1);
}

/** The value that this share of all is no larger than. */
function rank(all: readonly number[], share: number): number {
  return all.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * all.length) - 1)] ?? Number.NaN;
}

function at(all: readonly number[], share: number): string {
  const value = rank(all, share);
  return value === Infinity ? `> ${MOST_CASES}` : String(value);
}

function most(all: readonly number[]): number {
  return Math.max(...all);
}

function mean(all: readonly number[]): number {
  return all.reduce((one, other) => one + other, 0) / all.length;
}
