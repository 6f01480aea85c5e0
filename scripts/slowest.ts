// The slowest test files of a run of vitest, out of its JSON report.
//   npm run test:slowest                 runs the tests of `npm test` first
//   node dist/scripts/slowest.js FILE    reads a report that there is
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { execaSync } from 'execa';
import { PACKAGE_ROOT } from '../src/version.ts';

const SHOWN = 10;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly status: string;
    readonly assertionResults: readonly { readonly title: string; readonly duration?: number | null }[];
  }[];
}

const [given] = process.argv.slice(2);
const { testResults } = given === undefined ? measured() : read(given);
const files = testResults
  .map(({ name, startTime, endTime, status, assertionResults: tests }) => ({
    path: relative(PACKAGE_ROOT, name),
    seconds: (endTime - startTime) / 1000,
    tests: tests.length,
    failed: status === 'failed',
    slowest: tests.toSorted((a, b) => (b.duration ?? 0) - (a.duration ?? 0))[0]?.title ?? 'no test',
  }))
  .toSorted((a, b) => b.seconds - a.seconds);
for (const { path, seconds, tests, failed, slowest } of files.slice(0, SHOWN))
  console.log(
    `${seconds.toFixed(1).padStart(7)} s  ${path}${failed ? ' (FAILED)' : ''}: ${tests} tests, the slowest "${slowest}"`,
  );
const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
console.log(`${total.toFixed(1).padStart(7)} s  in ${files.length} files, one beside the other`);
process.exitCode = files.some(({ failed }) => failed) ? 1 : 0;

function read(path: string): Report {
  return JSON.parse(readFileSync(path, 'utf8')) as Report;
}

/** As the tests of `npm test`; what fails is named above, and by that command at length. */
function measured(): Report {
  const folder = mkdtempSync(join(tmpdir(), 'slowest '));
  try {
    const file = join(folder, 'report.json');
    const projects = ['--project', 'harness', '--project', 'properties'];
    execaSync('npx', ['vitest', 'run', ...projects, '--reporter=json', `--outputFile=${file}`], {
      cwd: PACKAGE_ROOT,
      stdout: 'ignore',
      stderr: 'inherit',
      reject: false,
    });
    return read(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
