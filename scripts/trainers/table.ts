// What the ready-made adapters are asked and what they answer, for docs/trainers/README.md; needs `npm run setup:trainers`.
// Exit code 1 where one fails in what is not known: a false alarm, or a finding that is not written down yet.
//   npm run trainers:table                            runs all, and prints the table
//   npm run trainers:table -- --only trl-sft --write  runs some, and writes their lines into the page
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { FAILING, type Verdict } from '../../src/vocabulary.ts';
import { measuredIn, writeMeasured } from '../docs/measured.ts';
import { READY } from './ready.ts';

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
const PAGE = join('trainers', 'README.md');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

const lines = new Map(measuredIn(PAGE, 'trainers').map((line) => [keyOf(line), line]));
for (const [environment, adapters] of PLACES)
  for (const adapter of adapters) {
    if (!`${adapter} in ${environment}`.includes(values.only)) continue;
    const line = lineOf(adapter, join(PACKAGE_ROOT, environment, 'bin', 'python'));
    console.log(line);
    lines.set(keyOf(line), line);
  }
if (values.write) writeMeasured(PAGE, 'trainers', [...lines.values()]);

/** Adapter and version. */
function keyOf(line: string): string {
  return line.split('|').slice(1, 3).join('|');
}

function lineOf(adapter: string, python: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof trainers '));
  try {
    const words = ['--adapter', adapter, '--python', python, '--seed', '1', '--cases', values.cases];
    const { exitCode, all } = execaSync(
      process.execPath,
      [MAIN, 'check', ...words, '--level', 'should', '--events', 'events.ndjson', '--quiet'],
      { cwd: folder, reject: false, all: true },
    );
    const [, lacks] = /^│ lossproof: (.*)$/m.exec(all) ?? [];
    if (exitCode === 2 && lacks !== undefined) return `| ${adapter} | ${lacks} |  |  |  |  |  |  |`;
    if (exitCode !== 0 && exitCode !== 1) throw new Error(`${adapter} with ${python}: no verdict\n${all}`);
    if (exitCode === 1) {
      process.exitCode = 1;
      console.error(all);
    }
    const run = runsOf(readEvents(readFileSync(join(folder, 'events.ndjson'), 'utf8')).events).at(-1);
    if (run === undefined) throw new Error(`${adapter} with ${python}: no run\n${all}`);
    const count = (...verdicts: readonly Verdict[]): string =>
      String(run.results.filter(({ verdict }) => verdicts.includes(verdict)).length);
    const { version = '' } = run.start.hello;
    const asked = count('pass', 'known', ...FAILING);
    const cells = [count('pass'), count('known'), count(...FAILING), count('skipped'), count('unsupported')];
    return `| ${[adapter, version, asked, ...cells].join(' | ')} |`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
