// What the ready-made adapters are asked and what they answer; needs `npm run setup:trainers`.
// Exit code 1 where one fails in what is not known: a false alarm, or a finding that is not written down yet.
//   npm run trainers:table                            runs all, and prints a line each
//   npm run trainers:table -- --only trl-sft --write  runs some, and keeps what they answered in docs/trainers/results.json
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { READY } from './ready.ts';
import { nameOf, resultOf, type TrainerResult, tableLine, today, writeResults } from './results.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    cases: { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
  },
});

/** Each environment of `npm run setup:trainers`, and the adapters whose library its requirements pin. */
const PLACES = readdirSync(join(PACKAGE_ROOT, 'scripts')).flatMap((file) => {
  const [, name] = /^(.+)-requirements\.txt$/.exec(file) ?? [];
  // It has libraries without what they import: sources to read.
  if (name === undefined || name === 'sources') return [];
  const pinned = readFileSync(join(PACKAGE_ROOT, 'scripts', file), 'utf8');
  const adapters = READY.flatMap(({ library, names }) =>
    library !== undefined && new RegExp(`^${library}==`, 'm').test(pinned) ? names : [],
  );
  return [[name === 'trainers' ? '.venv' : `.venv-${name}`, adapters] as const];
});
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

const results = PLACES.flatMap(([environment, adapters]) =>
  adapters
    .filter((adapter) => `${adapter} in ${environment}`.includes(values.only))
    .map((adapter) => {
      const result = asked(adapter, environment);
      console.log(tableLine(result));
      return result;
    }),
);
if (values.write) writeResults(results);

function asked(adapter: string, environment: string): TrainerResult {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof trainers '));
  const python = join(PACKAGE_ROOT, environment, 'bin', 'python');
  try {
    const words = ['--adapter', adapter, '--python', python, '--seed', '1', '--cases', values.cases];
    const { exitCode, all } = execaSync(
      process.execPath,
      [MAIN, 'check', ...words, '--level', 'should', '--events', 'events.ndjson', '--quiet'],
      { cwd: folder, reject: false, all: true },
    );
    const place = { adapter, environment, cases: Number(values.cases) };
    const [, lacks] = /^│ lossproof: (.*)$/m.exec(all) ?? [];
    if (exitCode === 2 && lacks !== undefined)
      return { ...place, version: '', date: today(), lacks, verdicts: {}, unsupported: 0, red: {} };
    if (exitCode !== 0 && exitCode !== 1)
      throw new Error(`${nameOf({ adapter, version: python })}: no verdict\n${all}`);
    if (exitCode === 1) {
      process.exitCode = 1;
      console.error(all);
    }
    const run = runsOf(readEvents(readFileSync(join(folder, 'events.ndjson'), 'utf8')).events).at(-1);
    if (run === undefined) throw new Error(`${nameOf({ adapter, version: python })}: no run\n${all}`);
    return resultOf(run, place);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
