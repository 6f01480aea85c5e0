// Many seeds against the bundled trainers, as tables: `correct` (every property, no failure allowed) and `faulty`
// (each caught by the property named for it, within so many cases). Exit code 1 where a claim does not hold.
//   node dist/scripts/seeds.js correct --seeds 50
//   node dist/scripts/seeds.js faulty --seeds 50 --within 20
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { properties } from '../properties/index.ts';
import { loadTokenizer, type PropertyResult, run, startTrainer, type Trainer } from '../src/index.ts';
import { pythonEnvironment } from './python.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '50' },
    cases: { type: 'string', default: '100' },
    within: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
});
const seeds = Number(values.seeds);
const cases = Number(values.cases);

const CORRECT = ['left_padded', 'right_padded', 'stop_excluded'];

interface Faulty {
  readonly name: string;
  readonly title: string;
  readonly property_hint: string;
}

async function withTrainer<T>(args: readonly string[], use: (trainer: Trainer) => Promise<T>): Promise<T> {
  const started = await startTrainer({ command: ['python3', '-m', ...args] });
  if ('failure' in started) throw new Error(`${args.join(' ')}: ${started.failure.message}`);
  try {
    return await use(started.trainer);
  } finally {
    await started.trainer.stop();
  }
}

async function results(trainer: Trainer, seed: number, only?: string): Promise<readonly PropertyResult[]> {
  const folder = trainer.hello.tokenizer;
  const loaded = folder === undefined ? undefined : await loadTokenizer(folder);
  const tokenizer = loaded !== undefined && 'tokenizer' in loaded ? loaded.tokenizer : undefined;
  const chosen = properties.filter(({ id }) => only === undefined || id === only);
  return run({ trainer, tokenizer, properties: chosen, seed, cases, command: 'seeds' }, () => undefined);
}

async function correct(): Promise<boolean> {
  let good = true;
  for (const name of CORRECT) {
    await withTrainer([`trainproof.examples.${name}`], async (trainer) => {
      const counts = new Map<string, number>();
      for (let seed = 1; seed <= seeds; seed++) {
        for (const result of await results(trainer, seed, values.only)) {
          counts.set(result.verdict, (counts.get(result.verdict) ?? 0) + 1);
          if (result.verdict !== 'fail' && result.verdict !== 'error') continue;
          good = false;
          const why = result.failure?.finding?.sentence ?? result.failure?.trainerFailure?.message;
          console.log(
            `  seed ${seed}: ${result.id} ${result.verdict}: ${why}\n    ${JSON.stringify(result.failure?.given)}`,
          );
        }
      }
      console.log(
        `${name.padEnd(16)} ${seeds} seeds: ${[...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`,
      );
    });
  }
  return good;
}

async function faulty(): Promise<boolean> {
  const { stdout } = execaSync('python3', ['-m', 'trainproof.examples.faulty', '--list'], {
    env: pythonEnvironment(),
  });
  const within = Number(values.within);
  let good = true;
  console.log(`${'faulty trainer'.padEnd(26)}${'caught by'.padEnd(50)}seeds  median  worst`);
  for (const { name, property_hint: hint } of JSON.parse(stdout) as Faulty[]) {
    await withTrainer(['trainproof.examples.faulty', name], async (trainer) => {
      const needed: number[] = [];
      for (let seed = 1; seed <= seeds; seed++) {
        const [result] = await results(trainer, seed, hint);
        if (result?.verdict === 'fail') needed.push(result.failure?.casesToFail ?? Number.POSITIVE_INFINITY);
      }
      needed.sort((a, b) => a - b);
      const median = needed[Math.floor((needed.length - 1) / 2)];
      const worst = needed.at(-1);
      if (needed.length < seeds || worst === undefined || worst > within) good = false;
      console.log(
        `${name.padEnd(26)}${hint.padEnd(50)}${needed.length}/${seeds}  ${String(median).padStart(4)}  ${String(worst).padStart(6)}`,
      );
    });
  }
  return good;
}

const tables: Record<string, () => Promise<boolean>> = { correct, faulty };
let holds = true;
for (const table of positionals.length > 0 ? positionals : Object.keys(tables)) {
  const make = tables[table];
  if (make === undefined)
    throw new Error(`No table "${table}"; there are ${Object.keys(tables).join(' and ')}.`);
  holds = (await make()) && holds;
}
process.exitCode = holds ? 0 : 1;
