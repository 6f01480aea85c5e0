// What it costs to come in by pip: `lossproof --version` of an environment with the wheel in it, and the same Node with the same
// engine, in turn. Fails above the limit. Processor time, because it is the same on a machine that others use, too.
//   npm run wheel && node dist/scripts/bench/door.js [--write] [--rounds 9]      --write: into docs/benchmarks.md
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { pipIn } from '../wheel/environment.ts';
import { median } from './scaling/exponents.ts';
import { machine, medianRatio, openSheet, processorMilliseconds } from './shared.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 41;
const MOST_MILLISECONDS = 300;

const dist = join(PACKAGE_ROOT, 'dist');
const wheel = readdirSync(dist).find((name) => name.endsWith('.whl'));
if (wheel === undefined) throw new Error('There is no wheel in dist/: run `npm run wheel`.');
const scratch = mkdtempSync(join(tmpdir(), 'lossproof-door-'));
try {
  const { file: python, words } = pipIn(scratch);
  execFileSync(python, [...words, 'install', '--quiet', join(dist, wheel)], { stdio: 'inherit' });
  const asked = [
    'import json, sys',
    'from lossproof_door import _node',
    'print(json.dumps({"command": _node.engine_command(), "python": sys.version.split()[0]}))',
  ].join('\n');
  const said = JSON.parse(execFileSync(python, ['-c', asked], { encoding: 'utf8' })) as {
    readonly command: readonly [string, string];
    readonly python: string;
  };
  const [node, main] = said.command;
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const ways = [
    { name: `\`node main.js --version\`, Node ${version}`, command: [node, main] },
    { name: `\`lossproof --version\`, Python ${said.python}`, command: [join(scratch, 'bin', 'lossproof')] },
    { name: '`python -m lossproof --version`', command: [python, '-m', 'lossproof'] },
  ].map((way) => ({ ...way, times: [] as number[] }));
  // A first time each, for the files to be in memory.
  for (let round = -1; round < rounds; round += 1)
    for (const { command, times } of ways) {
      const took = processorMilliseconds([...command, '--version']);
      if (round >= 0) times.push(took);
    }
  const alone = ways[0]?.times ?? [];
  const more = (times: readonly number[]): number => median(times.map((time, at) => time - (alone[at] ?? 0)));
  const { print, table, miss, end } = openSheet();
  print(
    `${machine()}; processor time; of ${rounds} rounds the medians, and the median of the differences within a round.`,
  );
  print('');
  table(
    ['', 'ms', 'ms more', 'x'],
    ways.map(({ name, times }) => [
      name,
      median(times).toFixed(0),
      more(times).toFixed(0),
      medianRatio(times, alone).toFixed(2),
    ]),
  );
  if (ways.some(({ times }) => more(times) > MOST_MILLISECONDS))
    miss(`The way in by pip costs more than ${MOST_MILLISECONDS} ms.`);
  end('door');
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
