// What `mutate` finds of four trainers, for docs/measurements.md and survivors.md here; at most ten minutes each, and all
// but the first need `.venv` (`npm run setup:trainers`). What was broken off is gone on with.
//   npm run mutate:tables                                  runs, and prints the tables
//   npm run mutate:tables -- --write                       and writes them into the pages
//   npm run mutate:tables -- --only trl-grpo --fresh
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mutationOf } from '../../src/mutate/events.ts';
import { readMutateEvents } from '../../src/mutate/read.ts';
import { measuredIn, writeMeasured } from '../docs/measured.ts';
import { countTable, type Measured, reasonTable, survivorTable, withOthers } from './tables.ts';
import { type Asked, MAIN, TRAINERS } from './trainers.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    /** Kept here, a folder a trainer. */
    state: { type: 'string', default: '.lossproof/mutate-tables' },
    fresh: { type: 'boolean', default: false },
    /** Nothing is run: tables of what is there. */
    shown: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const measured: Measured[] = [];
for (const trainer of TRAINERS) {
  const folder = resolve(values.state, trainer.name.replaceAll(' ', '-'));
  if (!values.shown && values.only.some((part) => trainer.name.includes(part))) {
    if (values.fresh) rmSync(folder, { recursive: true, force: true });
    runIn(folder, trainer);
  }
  const kept = keptIn(folder, trainer);
  if (kept !== undefined) measured.push(kept);
}
const names = TRAINERS.map(({ name }) => name);
/** The totals are for users; the single changes are for who works on lossproof. */
const [TOTALS, SURVIVORS] = ['measurements.md', '../scripts/mutate/survivors.md'];
const beside = (name: string, table: string): string => withOthers(table, measuredIn(TOTALS, name), names);
const tables: readonly (readonly [page: string, name: string, text: string])[] = [
  [TOTALS, 'mutate counts', beside('mutate counts', countTable(measured))],
  [TOTALS, 'mutate reasons', beside('mutate reasons', reasonTable(measured))],
  ...measured.map((each) => [SURVIVORS, `survivors of ${each.name}`, survivorTable(each).table] as const),
];
for (const [page, name, text] of tables) {
  console.log(`\n${name}\n${text}`);
  if (values.write) writeMeasured(page, name, [text]);
}

// For who explains them next.
for (const each of measured)
  for (const { place, change, judged } of survivorTable(each).unexplained) {
    console.log(`unexplained in ${each.name}: ${place} ${change.function} ${judged.answers}: ${change.kind}`);
    console.log(`  - ${change.before}\n  + ${change.after}`);
  }

function runIn(folder: string, { name, options, prepare }: Asked): void {
  mkdirSync(folder, { recursive: true });
  prepare?.(folder);
  const resume = eventsIn(folder) === undefined ? [] : ['--resume'];
  console.log(`\n${name}: lossproof mutate ${[...resume, ...options].join(' ')}`);
  const { status } = spawnSync(process.execPath, [MAIN, 'mutate', '--quiet', ...resume, ...options], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}

function eventsIn(folder: string): ReturnType<typeof readMutateEvents> | undefined {
  const kept = join(folder, '.lossproof', 'mutate');
  const file = existsSync(kept) ? readdirSync(kept).find((name) => name.endsWith('.ndjson')) : undefined;
  return file === undefined ? undefined : readMutateEvents(readFileSync(join(kept, file), 'utf8'));
}

function keptIn(folder: string, { name, what }: Asked): Measured | undefined {
  const events = eventsIn(folder) ?? [];
  const mutation = mutationOf(events);
  const milliseconds = events.reduce(
    (sum, event) => sum + (event.type === 'mutate-end' ? event.milliseconds : 0),
    0,
  );
  return mutation === undefined ? undefined : { name, what, mutation, milliseconds };
}
