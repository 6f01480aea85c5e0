// Cases a second: one mask property here, through a real Python process, and the same property in Hypothesis
// calling the same Python function in its own process. Both sides in turn, several rounds; prints the ratio.
//   npm run setup:trainers && npm run bench
import '../../src/cli/heap.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { properties } from '../../properties/index.ts';
import { run, startTrainer } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { pythonEnvironment } from '../python.ts';

const ROUNDS = 5;
const OURS = 40_000;
const THEIRS = 1_000;
const PROPERTY = 'mask/prompt-is-never-trained';

const virtual = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const python = process.env.LOSSPROOF_PYTHON || (existsSync(virtual) ? virtual : 'python3');

async function ours(): Promise<number> {
  const started = await startTrainer({ command: [python, '-m', 'lossproof.examples.left_padded'] });
  if ('failure' in started) throw new Error(started.failure.message);
  const { trainer } = started;
  const chosen = properties.filter(({ id }) => id === PROPERTY);
  const options = { trainer, tokenizer: undefined, properties: chosen, command: 'bench' };
  await run({ ...options, seed: 1, cases: OURS / 2 }, () => undefined);
  const begin = performance.now();
  const [result] = await run({ ...options, seed: 2, cases: OURS }, () => undefined);
  const seconds = (performance.now() - begin) / 1000;
  await trainer.stop();
  if (result?.verdict !== 'pass') throw new Error(`${PROPERTY}: ${result?.verdict}`);
  return OURS / seconds;
}

function theirs(): number {
  const script = join(PACKAGE_ROOT, 'scripts', 'bench', 'hypothesis_mask.py');
  return Number(execaSync(python, [script, String(THEIRS)], { env: pythonEnvironment() }).stdout);
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const rounds: { ours: number; theirs: number }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const measured = { theirs: theirs(), ours: await ours() };
  rounds.push(measured);
  console.log(
    `round ${round + 1}: lossproof ${measured.ours.toFixed(0)} cases/s, Hypothesis ${measured.theirs.toFixed(0)} cases/s, ratio ${(measured.ours / measured.theirs).toFixed(1)}`,
  );
}
console.log(`median ratio ${median(rounds.map(({ ours: left, theirs: right }) => left / right)).toFixed(1)}`);
