// Mutation testing of the properties, as a matrix mutant x property: who kills whom, after how many cases, over many seeds,
// and how small the case becomes.
// Exit code 1 where a mutant survives a seed, a property kills nothing, a bug of the catalogue has no mutant, or kills
// take too many cases or too large ones.
//   node dist/test/mutation/mutants.js [--seeds 30] [--cases 100] [--only ID|ROW|GLOB] [--json FILE]
//     [--part 1/2]  every second mutant, to divide what takes long; that each property kills one only the whole can tell
//     [--write]   makes the table of kills again (kills.ts), of the mutants that were asked
import '../../src/cli/heap.ts';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pMap from 'p-map';
import { properties } from '../../properties/index.ts';
import { bugs } from '../../src/bugs/index.ts';
import { listMutants } from '../mutants/list.ts';
import type { Mutant } from '../mutants/mutant.ts';
import { inPart } from '../part.ts';
import { startResident } from '../resident.ts';
import { cheapest, readKills, type Timed, timed, writeKills } from './kills.ts';
import { type MatrixRow, matrixRow } from './matrix.ts';

/** What a user sees of a typical bug: found within so many cases, shown on so many rows of so many tokens. */
const MOST_CASES = 5;
const MOST_ROWS = 2;
const MOST_TOKENS = 6;
/** One failure a mutant is made small, for at most so long; most need a tenth of it. */
const SHRINK_MILLISECONDS = 3000;
/** The processes of one mutant answer while the cases of the other are drawn. */
const LANES = 2;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '30' },
    cases: { type: 'string', default: '100' },
    only: { type: 'string' },
    part: { type: 'string', default: '1/1' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
const mutants = listMutants();
const chosen = inPart(
  mutants.filter((mutant) => values.only === undefined || isChosen(mutant, values.only)),
  values.part,
);
const isWhole = chosen.length === mutants.length;
if (chosen.length === 0) throw new Error(`No mutant is called or shows ${values.only}.`);

const begin = performance.now();
const options = { seeds, cases: Number(values.cases), shrinkMilliseconds: SHRINK_MILLISECONDS };
const matrix = await pMap(
  chosen,
  async (mutant) => {
    const row = await matrixRow(mutant, options);
    console.log(lineOf(row));
    return row;
  },
  { concurrency: LANES },
);
const seconds = Math.round((performance.now() - begin) / 1000);

const wrong = [survivors()];
if (isWhole) wrong.push(idle());
if (values.only === undefined) wrong.push(...totals());
const killed = matrix.filter(({ perSeed }) => perSeed.every((cases) => cases !== undefined)).length;
console.log(`\n${matrix.length} mutants, ${seeds.length} seeds, ${seconds} s`);
console.log(`mutation score (killed at every seed): ${killed}/${matrix.length}`);
for (const line of wrong) console.log(line.text);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(data(), undefined, 1)}\n`);
if (values.write) await write();
process.exitCode = wrong.some(({ fails }) => fails) ? 1 : 0;

async function write(): Promise<void> {
  const resident = startResident();
  const kills = new Map<string, Timed[]>();
  for (const { mutant, by } of matrix) {
    const drawn = [...by].map(([property, cases]) => ({ property, seed: seeds[0] ?? 1, index: cases - 1 }));
    kills.set(mutant.id, await timed(mutant, drawn, resident));
  }
  await resident.stop();
  const kept = Object.entries(isWhole ? {} : readKills()).filter(
    ([id]) => !kills.has(id) && mutants.some((mutant) => mutant.id === id),
  );
  writeKills(cheapest(kills, Object.fromEntries(kept)));
}

interface Total {
  readonly text: string;
  readonly fails: boolean;
}

function survivors(): Total {
  const survived = matrix.map(({ mutant, perSeed }) => ({
    id: mutant.id,
    at: seeds.filter((_, index) => perSeed[index] === undefined),
  }));
  const which = survived
    .filter(({ at }) => at.length > 0)
    .map(({ id, at }) => `${id} at ${at.length === seeds.length ? 'every seed' : `seeds ${at.join(' ')}`}`);
  return list('mutants that survive a seed', which);
}

/** Properties that killed something at any seed. */
function sharp(): ReadonlySet<string> {
  return new Set(matrix.flatMap(({ by, later }) => [...by.keys(), ...later]));
}

function idle(): Total {
  const killing = sharp();
  return list(
    'properties that kill nothing',
    properties.map(({ id }) => id).filter((id) => !killing.has(id)),
  );
}

function totals(): Total[] {
  const fewest = (id: string): number => Math.min(...matrix.map(({ by }) => casesOf(by.get(id))));
  const slow = [...sharp()].filter((id) => fewest(id) > MOST_CASES).map((id) => `${id} (${fewest(id)})`);
  const shown = new Set(mutants.flatMap(({ rows }) => rows));
  const unknown = [...shown].filter((id) => bugs.every((bug) => bug.id !== id));
  const missing = bugs.filter(({ id, unshown }) => !shown.has(id) && unshown === undefined);
  const unshown = bugs.filter((bug) => !shown.has(bug.id) && bug.unshown !== undefined);
  const cases = median(matrix.map(({ perSeed }) => median(perSeed.map(casesOf))));
  const rows = median(matrix.flatMap(({ size }) => (size === undefined ? [] : [size.rows])));
  const tokens = median(matrix.flatMap(({ size }) => (size === undefined ? [] : [size.tokens])));
  return [
    {
      text: list(`properties that take more than ${MOST_CASES} cases for any mutant (at seed 1)`, slow).text,
      fails: false,
    },
    list('rows that no catalogue has', unknown),
    {
      text: `rows shown: ${bugs.filter(({ id }) => shown.has(id)).length} of ${bugs.length}`,
      fails: false,
    },
    list(
      'rows with no mutant yet',
      missing.map(({ id }) => id),
    ),
    ...unshown.map(({ id, unshown: why }) => ({ text: `  ${id} is not shown: ${why}`, fails: false })),
    atMost('cases to a kill, median of the medians', cases, MOST_CASES),
    atMost('rows of the smallest case, median', rows, MOST_ROWS),
    atMost('tokens per row of the smallest case, median', tokens, MOST_TOKENS),
  ];
}

function lineOf({ mutant, by, later, perSeed, asked, size, errors }: MatrixRow): string {
  const lost = perSeed.filter((cases) => cases === undefined).length;
  const fate =
    by.size + later.length === 0
      ? asked === 0
        ? 'SURVIVES: there is no property for it'
        : `SURVIVES ${asked} properties`
      : [
          lost > 0 ? `SURVIVES ${lost} of ${perSeed.length} seeds,` : '',
          `cases ${median(perSeed.map(casesOf))}, worst ${Math.max(...perSeed.map(casesOf))},`,
          size === undefined ? '' : `${size.rows} x ${size.tokens},`,
          [...by.keys(), ...later.map((id) => `(${id})`)].join(' '),
        ]
          .filter((part) => part !== '')
          .join(' ');
  return [`${mutant.id.padEnd(44)} ${fate}`, ...errors.map((error) => `    error: ${error}`)].join('\n');
}

/** A seed that it survives counts as more than any. */
function casesOf(cases: number | undefined): number {
  return cases ?? Number.POSITIVE_INFINITY;
}

function list(what: string, ids: readonly string[]): Total {
  const which = ids.length === 0 ? '' : `: ${ids.join(', ')}`;
  return { text: `${what}: ${ids.length}${which}`, fails: ids.length > 0 };
}

function atMost(what: string, value: number, most: number): Total {
  return { text: `${what}: ${value} (at most ${most})`, fails: value > most };
}

/** The lower of the two in the middle; 0 of nothing. */
function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor((all.length - 1) / 2)] ?? 0;
}

/** By id, by a row that it shows, or by a glob over both. */
function isChosen({ id, rows }: Mutant, only: string): boolean {
  const pattern = only.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const glob = new RegExp(`^${pattern.join('.*')}$`);
  return [id, ...rows].some((name) => glob.test(name));
}

function data(): unknown {
  return matrix.map(({ mutant: { id, title, rows, base, ops }, by, later, perSeed, size, errors }) => ({
    id,
    title,
    rows,
    base,
    ops,
    killedBy: Object.fromEntries(by),
    later,
    perSeed: perSeed.map((cases) => cases ?? null),
    size: size ?? null,
    errors,
  }));
}
