// Mutant by property: every bundled faulty trainer against every property of the op that it has wrong, as data.
import { execaSync } from 'execa';
import { properties } from '../properties/index.ts';
import { loadTokenizer, type PropertyResult, run, startTrainer } from '../src/index.ts';
import { pythonEnvironment } from './python.ts';

export interface Mutant {
  readonly id: string;
  readonly title: string;
  /** The op that is wrong; the others are those of a correct trainer, and no property can say anything about them. */
  readonly op: string;
  /** Arguments of `python3`. */
  readonly args: readonly string[];
}

export interface Kills {
  readonly mutant: Mutant;
  /** Property id to cases needed. */
  readonly by: ReadonlyMap<string, number>;
  readonly results: readonly PropertyResult[];
}

/** The bundled faulty trainers: the six of the tour and the mutants. */
export function listMutants(): Mutant[] {
  return ['faulty', 'mutants'].flatMap((module) => {
    const { stdout } = execaSync('python3', ['-m', `trainproof.examples.${module}`, '--list'], {
      env: pythonEnvironment(),
    });
    const listed = JSON.parse(stdout) as { id: string; title: string; op: string }[];
    return listed.map(({ id, title, op }) => ({
      id,
      title,
      op,
      args: ['-m', `trainproof.examples.${module}`, id],
    }));
  });
}

/** Runs every property of the mutant's op once, in one process. Failures are not shrunk. */
export async function kills(mutant: Mutant, seed: number, cases: number): Promise<Kills> {
  const started = await startTrainer({ command: ['python3', ...mutant.args] });
  if ('failure' in started) throw new Error(`${mutant.id}: ${started.failure.message}`);
  const { trainer } = started;
  try {
    const folder = trainer.hello.tokenizer;
    const loaded = folder === undefined ? undefined : await loadTokenizer(folder);
    const tokenizer = loaded !== undefined && 'tokenizer' in loaded ? loaded.tokenizer : undefined;
    const results = await run(
      {
        // Whether it fails in a fresh process as well is not asked here; a restart a kill would take most of the time.
        trainer: { ...trainer, restart: async () => {} },
        tokenizer,
        properties: properties.filter(({ ops }) => ops.some((op) => op === mutant.op)),
        seed,
        cases,
        command: 'mutants',
        shrinkMilliseconds: 0,
      },
      () => undefined,
    );
    const by = new Map(
      results
        .filter(({ verdict }) => verdict === 'fail')
        .map(({ id, failure }): [string, number] => [id, failure?.casesToFail ?? 0]),
    );
    return { mutant, by, results };
  } finally {
    await trainer.stop();
  }
}

export const propertyIds: readonly string[] = properties.map(({ id }) => id);
