// All mutants, whatever they are written in: what they are called, which bugs they show, how to start one.
import { execaSync } from 'execa';
import { pythonEnvironment } from '../../scripts/python.ts';
import { loadTokenizer, startTrainer, type Trainer, type World, worldOf } from '../../src/index.ts';
import type { Resident } from '../resident.ts';
import { advantagesOfTheLanguage } from './advantages/language.ts';
import { wrongModels } from './models/forward.ts';
import type { Mutant } from './mutant.ts';
import { rolloutsOfTheLanguage } from './rollouts/language.ts';
import { wrongEstimates } from './scores/estimates.ts';
import { wrongAtFullSize } from './scores/full-size.ts';
import { wrapperOf, wrappers } from './wrappers.ts';

/** Those that are written by hand, and a wrapper for each relation of an op. */
export function listMutants(): Mutant[] {
  return [...writtenMutants(), ...wrappers.map(({ op, way }) => wrapperOf(op, way))];
}

/** The six of the tour, the Python mutants, and those that only TypeScript can show. */
export function writtenMutants(): Mutant[] {
  return [...[FAULTY, MUTANTS].flatMap(listed), ...inTypeScript];
}

const FAULTY = 'lossproof.examples.faulty';
const MUTANTS = 'mutants';
const inTypeScript: readonly Mutant[] = [
  ...rolloutsOfTheLanguage.map((mutant) => ({ ...mutant, family: 'rollouts' })),
  ...advantagesOfTheLanguage.map((mutant) => ({ ...mutant, family: 'advantages' })),
  ...wrongModels.map((mutant) => ({ ...mutant, family: 'models' })),
  ...wrongEstimates.map((mutant) => ({ ...mutant, family: 'scores' })),
  ...wrongAtFullSize.map((mutant) => ({ ...mutant, family: 'scores' })),
];

type Listed = Omit<Mutant, 'start'>;

function listed(module: string): Mutant[] {
  const { stdout } = execaSync('python3', ['-m', module, '--list'], {
    env: pythonEnvironment(),
  });
  return (JSON.parse(stdout) as Listed[]).map(({ id, title, rows, base, ops, family }) => ({
    id,
    family,
    title,
    rows,
    base,
    ops,
    async start(resident) {
      if (resident !== undefined) return resident.open(module, id);
      const command = ['python3', '-m', module, id];
      const started = await startTrainer({ command, env: pythonEnvironment() });
      if ('failure' in started) throw new Error(`${id}: ${started.failure.message}`);
      return started.trainer;
    },
  }));
}

/** Starts it, hands it over with what properties may know of it, and stops it. */
export async function withMutant<T>(
  mutant: Mutant,
  use: (trainer: Trainer, world: World) => Promise<T>,
  resident?: Resident,
): Promise<T> {
  const trainer = await mutant.start(resident);
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
