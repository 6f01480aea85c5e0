// What it costs to start: `--version`, `--help`, `list`, and `check` up to the first property that is judged, beside a Node
// that does nothing, in turn. Processor time, because it is the same on a machine that others use, too.
//   npm run bench:start [-- --write] [--rounds 9]      --write: into docs/benchmarks.md
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { median } from './scaling/exponents.ts';
import { machine, medianRatio, openSheet, spentBy } from './shared.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 9;
/** Scripts ask for the version: at most so many times a Node that does nothing. */
const MOST_FOR_VERSION = 2;

const main = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const first = ['--only', 'mask/prompt-is-never-trained', '--cases', '1', '--no-profile', '--seed', '1'];
const ways = [
  { name: '`node -e 0`', words: ['-e', '0'] },
  { name: '`lossproof --version`', words: [main, '--version'] },
  { name: '`lossproof --help`', words: [main, '--help'] },
  { name: '`lossproof list`', words: [main, 'list'] },
  { name: '`lossproof check --bundled`, its first property', words: [main, 'check', '--bundled', ...first] },
].map((way) => ({ ...way, times: [] as number[] }));

const scratch = mkdtempSync(join(tmpdir(), 'lossproof-start-'));
try {
  // A first time each, for the files to be in memory.
  for (let round = -1; round < rounds; round += 1)
    for (const { words, times } of ways) {
      const took = spentBy([process.execPath, ...words], { cwd: scratch }).milliseconds;
      if (round >= 0) times.push(took);
    }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const alone = ways[0]?.times ?? [];
const { print, table, miss, end } = openSheet();
print(
  `${machine()}; processor time of all processes; of ${rounds} rounds the medians, ratios within a round.`,
);
print('');
table(
  ['', 'ms', `x \`node -e 0\``],
  ways.map(({ name, times }) => [name, median(times).toFixed(0), medianRatio(times, alone).toFixed(1)]),
);
const version = medianRatio(ways[1]?.times ?? [], alone);
if (version > MOST_FOR_VERSION)
  miss(
    `\`--version\` takes ${version.toFixed(1)} times what Node takes to start, at most ${MOST_FOR_VERSION} is allowed`,
  );
end('start');
