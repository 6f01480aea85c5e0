// What `npm test` costs, in CPU time: that of this machine, but not of what else it has to do. By folder, then the dearest files.
//   npm run test:slowest                 runs the tests of `npm test` first
//   node dist/scripts/slowest.js FILE    reads what test/spent.ts has written
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { execaSync } from 'execa';
import { PACKAGE_ROOT } from '../src/version.ts';

/** CPU seconds: two minutes of two cores. */
const BUDGET = 240;
/** Folders are told apart to this depth, as test/cli/check. */
const DEPTH = 3;
const FOLDERS_SHOWN = 20;
const FILES_SHOWN = 15;

/** A line of that file: what a test file took. */
export interface Spent {
  readonly path: string;
  /** CPU seconds of the worker, its imports included, and of the processes that it started and that have ended. */
  readonly own: number;
  readonly children: number;
  readonly starts: number;
}

interface Cost {
  readonly name: string;
  readonly seconds: number;
  readonly starts: number;
  readonly files: number;
}

const [given] = process.argv.slice(2);
const files = (given === undefined ? measured() : read(given)).map(
  ({ path, own, children, starts }): Cost => ({
    name: relative(PACKAGE_ROOT, path),
    seconds: own + children,
    starts,
    files: 1,
  }),
);
const folders = new Map<string, Cost>();
for (const file of files) {
  const name = dirname(file.name).split(sep).slice(0, DEPTH).join('/');
  folders.set(name, added(folders.get(name), { ...file, name }));
}
console.log(`CPU s  files  processes started, ${FOLDERS_SHOWN} of ${folders.size} folders`);
for (const folder of dearest([...folders.values()]).slice(0, FOLDERS_SHOWN)) console.log(lineOf(folder));
console.log(`\n${FILES_SHOWN} files take the most:`);
for (const file of dearest(files).slice(0, FILES_SHOWN)) console.log(lineOf(file));
const whole = files.reduce<Cost | undefined>((sum, file) => added(sum, { ...file, name: '' }), undefined);
console.log(`\n${lineOf({ ...(whole ?? { seconds: 0, starts: 0, files: 0 }), name: `of ${BUDGET} s` })}`);

function added(sum: Cost | undefined, more: Cost): Cost {
  if (sum === undefined) return more;
  const [seconds, starts] = [sum.seconds + more.seconds, sum.starts + more.starts];
  return { name: more.name, seconds, starts, files: sum.files + more.files };
}

function dearest(costs: readonly Cost[]): Cost[] {
  return costs.toSorted((a, b) => b.seconds - a.seconds);
}

function lineOf({ name, seconds, starts, files }: Cost): string {
  return `${seconds.toFixed(1).padStart(5)}  ${`${files}`.padStart(5)}  ${`${starts}`.padStart(5)}  ${name}`;
}

function read(path: string): Spent[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Spent);
}

/** As the tests of `npm test`; what fails is said by that command. */
function measured(): Spent[] {
  const folder = mkdtempSync(join(tmpdir(), 'slowest '));
  try {
    const file = join(folder, 'spent.ndjson');
    const { exitCode } = execaSync('npm', ['test'], {
      cwd: PACKAGE_ROOT,
      env: { LOSSPROOF_TEST_CPU: file },
      stdio: ['ignore', 'ignore', 'inherit'],
      reject: false,
    });
    process.exitCode = exitCode ?? 1;
    return read(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
