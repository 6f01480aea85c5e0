// How often rules over logs blame healthy runs, and how often they find faults that are planted, in simulated runs.
// Exit code 1 where more healthy runs are blamed than are allowed, beyond chance.
//   npm run monitor:patience                              3,000 healthy runs at seed 1; some minutes
//   npm run monitor:patience -- --detect --write          planted faults as well, and both tables into docs/measurements.md
//   npm run monitor:patience -- --kinds "grpo, solved" --seed 23 --runs 1 --keep .lossproof/blamed
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { healthyRun, KINDS, type Kind } from '../../test/monitor/simulated/healthy.ts';
import type { LoggedRun } from '../../test/monitor/simulated/logging.ts';
import { type Blame, blamesOn, ratesOf } from '../../test/monitor/simulated/patience.ts';
import { detectionsOf, FAULTS, plantedRun } from '../../test/monitor/simulated/planted.ts';
import { writeMeasured } from '../docs/measured.ts';
import { detectionTable, findersOf, offenders, rateTable } from './tables.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    /** Names, or parts of names. */
    kinds: { type: 'string', multiple: true, default: [''] },
    faults: { type: 'string', multiple: true, default: [''] },
    detect: { type: 'boolean', default: false },
    /** Runs of each fault at each strength. */
    each: { type: 'string', default: '40' },
    /** Rules of level may are shown as well. */
    may: { type: 'boolean', default: false },
    /** A folder: logs of what was blamed, or was planted and not found, as JSON lines. */
    keep: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const seed = Number(values.seed);
const named = <Name extends string>(parts: readonly string[], names: readonly Name[]): readonly Name[] => {
  const exact = names.filter((name) => parts.includes(name));
  return exact.length > 0 ? exact : names.filter((name) => parts.some((part) => name.includes(part)));
};

const problems: string[] = [];
healthy();
if (values.detect) planted();
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function healthy(): void {
  const kinds = named(values.kinds, KINDS);
  if (kinds.length === 0) throw new Error(`--kinds: there are ${KINDS.join('; ')}`);
  const runs = Number(values.runs);
  const blames: Blame[] = [];
  for (let at = 0; at < runs; at++) {
    const kind = kinds[at % kinds.length] as Kind;
    const own = seed + Math.floor(at / kinds.length);
    const said = blamesOn(kind, own);
    blames.push(...said);
    const wrong = said.some(({ level }) => level !== 'may');
    if (values.keep !== undefined && (wrong || runs === 1)) keep(`${kind} ${own}`, healthyRun(kind, own));
  }
  const rates = ratesOf(blames, runs);
  const shown = blames.filter(({ level }) => values.may || level !== 'may');
  if (shown.length > 0) console.log(`${offenders(shown)}\n`);
  const table = rateTable(rates, runs);
  console.log(table);
  for (const { level, low, allowed } of rates)
    if (low > allowed) problems.push(`${level}: more than ${allowed * 100} % of the healthy runs are blamed`);
  if (values.write) writeMeasured('measurements.md', 'monitor patience', [table]);
}

function planted(): void {
  const names = named(
    values.faults,
    FAULTS.map(({ name }) => name),
  );
  const runs = Number(values.each);
  const all = FAULTS.filter(({ name }) => names.includes(name)).map((fault) => {
    const detections = detectionsOf(fault, runs, seed);
    console.log(findersOf(fault, detections));
    if (values.keep !== undefined)
      for (const [at, kind] of fault.kinds.entries()) {
        const strongest = fault.strengths.at(-1) ?? 1;
        const run = plantedRun(fault, kind, seed + at, strongest);
        if (run !== undefined) keep(`${fault.name} in ${kind} ${seed + at} from step ${run.onset}`, run);
      }
    return [fault, detections] as const;
  });
  const table = detectionTable(all, runs);
  console.log(`\n${table}`);
  if (values.write) writeMeasured('measurements.md', 'monitor detection', [table]);
}

/** As Python writes JSON lines: what `lossproof monitor` reads. */
function keep(name: string, { log }: LoggedRun): void {
  const folder = values.keep ?? '.';
  mkdirSync(folder, { recursive: true });
  const rows = (log.steps ?? []).map((step, row) => {
    const pairs = Object.entries(log.series).flatMap(([series, column]) => {
      const value = column[row];
      return value === undefined ? [] : [`${JSON.stringify(series)}: ${value}`];
    });
    return `{"step": ${step}, ${pairs.join(', ')}}\n`;
  });
  writeFileSync(join(folder, `${name.replaceAll(/[^\w.]+/g, '-')}.jsonl`), rows.join(''));
}
