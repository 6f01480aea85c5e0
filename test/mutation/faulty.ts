// The faulty trainers of the tour over many seeds, as a table: each is caught by a property of the stage named for it,
// within so many cases. Exit code 1 where one is not.
//   node dist/test/mutation/faulty.js --seeds 50 --within 20
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { properties } from '../../properties/index.ts';
import { pythonEnvironment } from '../../scripts/python.ts';
import { selectProperties } from '../../src/cli/check/select.ts';
import {
  loadTokenizer,
  type Property,
  type PropertyResult,
  run,
  startTrainer,
  type Trainer,
} from '../../src/index.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    within: { type: 'string', default: '20' },
  },
});
const seeds = Number(values.seeds);
/** The first seed. */
const from = Number(values.from);
/** The most that a catch may need: no property is asked more. */
const within = Number(values.within);

process.exitCode = (await faulty()) ? 0 : 1;

interface Faulty {
  readonly name: string;
  /** A glob over property ids, as the command line takes them: `mask/*`. */
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

interface Catch {
  readonly id: string;
  /** Cases that the property needed. */
  readonly after: number;
}

async function results(
  trainer: Trainer,
  seed: number,
  chosen: readonly Property[],
  shrinkMilliseconds?: number,
): Promise<readonly PropertyResult[]> {
  const folder = trainer.hello.tokenizer;
  const loaded = folder === undefined ? undefined : await loadTokenizer(folder);
  const tokenizer = loaded !== undefined && 'tokenizer' in loaded ? loaded.tokenizer : undefined;
  return run(
    {
      trainer,
      tokenizer,
      properties: chosen,
      seed,
      cases: within,
      command: 'faulty',
      ...(shrinkMilliseconds === undefined ? {} : { shrinkMilliseconds }),
    },
    () => undefined,
  );
}

/** Properties by ids or globs, separated by commas, whatever their level. */
function matching(glob: string): readonly Property[] {
  const chosen = selectProperties(properties, glob === '' ? [] : glob.split(','), 'may');
  if ('problem' in chosen) throw new Error(chosen.problem);
  return chosen;
}

async function faulty(): Promise<boolean> {
  const { stdout } = execaSync('python3', ['-m', 'lossproof.examples.faulty', '--list'], {
    env: pythonEnvironment(),
  });
  let good = true;
  console.log(`${'faulty trainer'.padEnd(26)}${'stage'.padEnd(14)}seeds  median  worst  first most often`);
  for (const { name, property_hint: hint } of JSON.parse(stdout) as Faulty[]) {
    const chosen = matching(hint);
    await withTrainer(['lossproof.examples.faulty', name], async (started) => {
      // Not asked whether a fresh process fails as well: a restart a failure would take most of the time.
      const trainer = { ...started, restart: async () => {} };
      const catches: Catch[] = [];
      for (let seed = from; seed < from + seeds; seed++) {
        const earliest = first(await results(trainer, seed, chosen, 0));
        if (earliest !== undefined) catches.push(earliest);
      }
      const needed = catches.map(({ after }) => after).sort((a, b) => a - b);
      const median = needed[Math.floor((needed.length - 1) / 2)];
      const worst = needed.at(-1);
      if (needed.length < seeds || worst === undefined || worst > within) good = false;
      console.log(
        `${name.padEnd(26)}${hint.padEnd(14)}${`${needed.length}/${seeds}`.padStart(5)}  ${String(median).padStart(6)}  ${String(worst).padStart(5)}  ${mostOften(catches.map(({ id }) => id))}`,
      );
    });
  }
  return good;
}

/** The property that needed the fewest cases; of equal ones the first in the catalogue's order. */
function first(all: readonly PropertyResult[]): Catch | undefined {
  return all
    .filter(({ verdict }) => verdict === 'fail')
    .map(({ id, failure }) => ({ id, after: failure?.casesToFail ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.after - b.after)[0];
}

function mostOften(ids: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most === undefined ? 'none' : `${most[0]} (${most[1]})`;
}
