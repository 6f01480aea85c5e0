// What `lossproof twin` costs beside two plain runs of the same script and steps, in processor time. Exit code 1 above
// 2.5 times.
//   npm run bench:twin [-- --write] [--rounds 3]      --write: into docs/benchmarks.md
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { median } from './scaling/exponents.ts';
import { machine, medianRatio, openSheet, type Spent, spentBy } from './shared.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 3;
const MOST = 2.5;
const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const SCRIPT = join(PACKAGE_ROOT, 'scripts', 'bench', 'trace_script.py');

// Threads that wait for each other on a busy machine use processor time, too.
process.env.OMP_NUM_THREADS = '1';

const { print, table, miss, end } = openSheet();
print(
  `${machine()}; one thread, processor time of all processes; of ${rounds} rounds the medians, ratios within a round.`,
);
print('');
const CASES = [
  { size: 'small', parameters: '1.3e6', steps: 8 },
  { size: 'large', parameters: '0.10e9', steps: 3 },
] as const;
const rows = CASES.map(({ size, parameters, steps }) => {
  const [plain, twin]: [Spent[], Spent[]] = [[], []];
  const script = [PYTHON, SCRIPT, 'kept', size, '2', '128', String(steps), '0'];
  const asked = ['twin', '--change', 'repeat', '--steps', String(steps), '--', ...script];
  const scratch = mkdtempSync(join(tmpdir(), 'lossproof-twin-'));
  try {
    for (let round = 0; round < rounds; round += 1) {
      plain.push(spentBy(script, { cwd: scratch }));
      twin.push(spentBy([process.execPath, MAIN, ...asked], { cwd: scratch }));
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const two = plain.map(({ milliseconds }) => 2 * milliseconds);
  const times = twin.map(({ milliseconds }) => milliseconds);
  const ratio = medianRatio(times, two);
  if (ratio > MOST)
    miss(`a ${size} model: twin takes ${ratio.toFixed(2)} times two plain runs, at most ${MOST} is allowed`);
  const seconds = (values: readonly number[]): string => (median(values) / 1000).toFixed(1);
  const peak = (of: readonly Spent[]): string =>
    (Math.max(...of.map(({ megabytes }) => megabytes)) / 1000).toFixed(2);
  return [parameters, String(steps), seconds(two), seconds(times), ratio.toFixed(2), peak(plain), peak(twin)];
});
table(
  [
    'parameters',
    'steps',
    's, two plain runs',
    's, `twin --change repeat`',
    'ratio',
    'peak GB',
    'peak GB under twin',
  ],
  rows,
);
end('twin');
