// The bundled wrong trainers, whatever they are written in: what they are called, which bugs they show, how to start one.
import { execaSync } from 'execa';
import { loadTokenizer, type Op, startTrainer, type Trainer, type World, worldOf } from '../src/index.ts';
import { wrongHere } from './mutants-ts/index.ts';
import { pythonEnvironment } from './python.ts';

export interface Mutant {
  readonly id: string;
  readonly title: string;
  /** Rows of the catalogue that it shows; its id begins with the first. */
  readonly rows: readonly string[];
  /** The correct trainer that it is made of. */
  readonly base: string;
  /** The ops that are wrong; the others are those of the base, and no property can say anything about them. */
  readonly ops: readonly Op[];
  readonly start: () => Promise<Trainer>;
}

/** The six of the tour, the Python mutants, and those that only TypeScript can show. */
export function listMutants(): Mutant[] {
  return [...['faulty', 'mutants'].flatMap(listed), ...wrongHere];
}

type Listed = Omit<Mutant, 'start'>;

function listed(module: string): Mutant[] {
  const { stdout } = execaSync('python3', ['-m', `lossproof.examples.${module}`, '--list'], {
    env: pythonEnvironment(),
  });
  return (JSON.parse(stdout) as Listed[]).map(({ id, title, rows, base, ops }) => ({
    id,
    title,
    rows,
    base,
    ops,
    async start() {
      const command = ['python3', '-m', `lossproof.examples.${module}`, id];
      const started = await startTrainer({ command });
      if ('failure' in started) throw new Error(`${id}: ${started.failure.message}`);
      return started.trainer;
    },
  }));
}

/** Starts it, hands it over with what properties may know of it, and stops it. */
export async function withMutant<T>(
  mutant: Mutant,
  use: (trainer: Trainer, world: World) => Promise<T>,
): Promise<T> {
  const trainer = await mutant.start();
  try {
    return await use(trainer, worldOf(trainer, tokenizerOf(trainer.hello.tokenizer)));
  } finally {
    await trainer.stop();
  }
}

/** Loaded once a folder: hundreds of trainers share a handful of tokenizers. */
const tokenizers = new Map<string, World['tokenizer']>();

function tokenizerOf(folder: string | undefined): World['tokenizer'] {
  if (folder === undefined) return undefined;
  if (!tokenizers.has(folder)) {
    const loaded = loadTokenizer(folder);
    tokenizers.set(folder, 'tokenizer' in loaded ? loaded.tokenizer : undefined);
  }
  return tokenizers.get(folder);
}
