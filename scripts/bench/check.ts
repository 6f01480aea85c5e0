// Cases per second here, through a real Python process, and of the same property in Hypothesis, which calls the same Python
// function in its own process: a mask, and the exact KL of two (8, 128) float32 arrays. Both sides in turn, several rounds.
//   npm run setup:trainers && npm run bench [-- --write] [--rounds 5]      --write: into docs/benchmarks.md
import '../../src/cli/heap.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { properties } from '../../properties/index.ts';
import { run, startTrainer } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { pythonEnvironment } from '../python.ts';
import { median } from './scaling/exponents.ts';
import { klOfTwoArrays, type Sized } from './scaling/sized.ts';
import { machine, medianRatio, openSheet } from './shared.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 5;
const MASK = 'mask/prompt-is-never-trained';
const KL = 'kl/over-the-vocabulary-equals-the-definition';
const HYPOTHESIS = join(PACKAGE_ROOT, 'scripts', 'bench', 'hypothesis');
const virtual = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const python = process.env.LOSSPROOF_PYTHON || (existsSync(virtual) ? virtual : 'python3');

interface Match extends Sized {
  readonly name: string;
  /** Behind the name of the Python program. */
  readonly trainer: readonly string[];
  readonly theirs: { readonly script: string; readonly cases: number };
  /** Fewer times Hypothesis's cases per second than this, and the command fails: half of what was measured last. */
  readonly least: number;
}

const MATCHES: readonly Match[] = [
  {
    name: 'a mask',
    property: named(MASK),
    cases: 40_000,
    trainer: ['-m', 'lossproof.examples.left_padded'],
    theirs: { script: 'mask.py', cases: 1_000 },
    least: 12,
  },
  {
    name: 'the exact KL of two (8, 128) float32 arrays, numpy',
    ...klOfTwoArrays(named(KL)),
    trainer: [join(HYPOTHESIS, 'full_kl.py')],
    theirs: { script: 'full_kl.py', cases: 200 },
    least: 4,
  },
];

const { print, table, miss, end } = openSheet();
const { stdout: versions } = execaSync(python, [
  '-c',
  'import hypothesis, numpy, platform; print(f"Python {platform.python_version()}, Hypothesis {hypothesis.__version__}, numpy {numpy.__version__}")',
]);
print(`${machine()}; ${versions.trim()}; of ${rounds} rounds the medians, ratios within a round.`);
print('');
const speeds = MATCHES.map((match) => ({ match, ours: [] as number[], theirs: [] as number[] }));
for (let round = 0; round < rounds; round++)
  for (const { match, ours, theirs } of speeds) {
    theirs.push(hypothesisOf(match));
    ours.push(await lossproofOf(match));
  }
table(
  ['property', 'lossproof, cases per second', 'Hypothesis, cases per second', 'x'],
  speeds.map(({ match, ours, theirs }) => {
    const ratio = medianRatio(ours, theirs);
    if (ratio < match.least)
      miss(
        `${match.name}: ${ratio.toFixed(1)} times as many cases per second, at least ${match.least} are expected`,
      );
    return [match.name, median(ours).toFixed(0), median(theirs).toFixed(0), ratio.toFixed(1)];
  }),
);
end('check');

async function lossproofOf({ property, cases, trainer: words }: Match): Promise<number> {
  const started = await startTrainer({ command: [python, ...words], env: pythonEnvironment() });
  if ('failure' in started) throw new Error(started.failure.message);
  const { trainer } = started;
  const options = { trainer, tokenizer: undefined, properties: [property], command: 'bench' };
  await run({ ...options, seed: 1, cases: cases / 2 }, () => undefined);
  const begin = performance.now();
  const [result] = await run({ ...options, seed: 2, cases }, () => undefined);
  const seconds = (performance.now() - begin) / 1000;
  await trainer.stop();
  if (result?.verdict !== 'pass')
    throw new Error(`${property.id}: ${result?.verdict} ${result?.reason ?? ''}`);
  return cases / seconds;
}

function hypothesisOf({ theirs: { script, cases } }: Match): number {
  const words = [join(HYPOTHESIS, script), String(cases)];
  return Number(execaSync(python, words, { env: pythonEnvironment() }).stdout);
}

function named(id: string): Sized['property'] {
  const property = properties.find((each) => each.id === id);
  if (property === undefined) throw new Error(`no property is called ${id}`);
  return property;
}
