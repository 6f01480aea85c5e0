// Every trainer that is right: the examples, all conventions in Python, and the legal object trainers; and how one
// of them is judged, which is how the command judges: measured first, then checked. What fails one is a false positive.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execaSync } from 'execa';
import { pythonEnvironment } from '../../scripts/python.ts';
import { measureUndeclared } from '../../src/check/profile/undeclared.ts';
import {
  loadTokenizer,
  type Op,
  type Property,
  type PropertyResult,
  run,
  type Semantics,
  startTrainer,
  type Tokenizer,
  type Trainer,
} from '../../src/index.ts';
import { type Family, familyNames } from '../../src/protocol/ops.ts';
import type { Resident } from '../resident.ts';
import type { Legal } from './legal.ts';

export interface Correct {
  readonly name: string;
  /** Out of a resident process where one is given and it is written in Python; else a process, or an object, of its own. */
  readonly open: (resident?: Resident) => Promise<Opened>;
  /** What it does, declared or not. */
  readonly is?: Semantics;
}

export interface Opened {
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
}

export const EXAMPLES: readonly Correct[] = [
  'lossproof.examples.left_padded',
  'lossproof.examples.stop_excluded',
  'conformance.right_padded',
  'conformance.data_parallel',
  'conformance.fixed_ranks',
].map((module) => ({
  name: module.split('.').at(-1) ?? module,
  open: (resident) => openPython(resident, module),
}));

export interface LegalTrainer extends Correct {
  readonly family: Family;
  readonly ops: readonly Op[];
}

/** A convention, as `--list` says it. */
export interface Convention {
  readonly name: string;
  /** What it does, declared or not. */
  readonly is: Semantics;
}

export function conventions(): (Correct & Convention)[] {
  const { stdout } = execaSync('python3', ['-m', CONVENTIONS, '--list'], { env: pythonEnvironment() });
  return (JSON.parse(stdout) as Convention[]).map((convention) => ({
    ...convention,
    open: (resident) => openPython(resident, CONVENTIONS, convention.name),
  }));
}

export const LEGAL: readonly LegalTrainer[] = (await Promise.all(familyNames.map(legalOf))).flat();

/** The object trainers of a family: every list of them that a file of its folder exports. */
async function legalOf(family: Family): Promise<readonly LegalTrainer[]> {
  const folder = join(import.meta.dirname, family);
  const files = readdirSync(folder).filter((file) => /(?<!\.d)\.[jt]s$/.test(file));
  const modules = await Promise.all(
    files.toSorted().map((file): Promise<object> => import(pathToFileURL(join(folder, file)).href)),
  );
  return modules
    .flatMap((module) => Object.values(module) as unknown[])
    .filter((value): value is readonly Legal[] => Array.isArray(value) && value.every(isLegal))
    .flat()
    .map(({ name, trainer, tokenizer, is }) => ({
      name,
      family,
      ops: Object.keys(trainer.hello.ops) as Op[],
      open: async () => ({ trainer, tokenizer }),
      ...(is === undefined ? {} : { is }),
    }));
}

function isLegal(value: unknown): value is Legal {
  return typeof value === 'object' && value !== null && 'name' in value && 'trainer' in value;
}

/** One run of these properties. */
export type Judge = (
  properties: readonly Property[],
  seed: number,
  cases: number,
) => Promise<readonly PropertyResult[]>;

/** A trainer opened, and measured once as `check` measures it, for as long as it is judged. */
export async function whileOpen<T>(
  correct: Correct,
  use: (judge: Judge) => Promise<T>,
  resident?: Resident,
): Promise<T> {
  const { trainer, tokenizer } = await correct.open(resident);
  try {
    const measured = await measureUndeclared({ trainer, tokenizer });
    return await use((properties, seed, cases) =>
      run(
        {
          trainer,
          tokenizer,
          measured,
          properties,
          seed,
          cases,
          command: 'correct',
          shrinkMilliseconds: SHRINK_MILLISECONDS,
        },
        () => undefined,
      ),
    );
  } finally {
    await trainer.stop();
  }
}

/** Enough for a small case; a false positive is to be read, not to be waited for. */
const SHRINK_MILLISECONDS = 5_000;

/**
 * One line for each false positive, with the case that raised it, and for each label that is thinner than promised. A
 * question is none where what the trainer does on purpose is one of the answers that it offers.
 */
export function falsePositivesOf(
  results: readonly PropertyResult[],
  { is = {} }: Pick<Correct, 'is'> = {},
): string[] {
  const meant = Object.entries(is).map(([item, value]) => `"${item}": ${JSON.stringify(value)}`);
  const answered = ({ answers, failure }: PropertyResult): boolean =>
    [...(answers ?? []), ...(failure?.finding?.answers ?? [])].some((answer) =>
      meant.some((line) => answer === line || answer.startsWith(`${line} `)),
    );
  return results.flatMap((result) => {
    const { id, verdict, failure, reason, thin } = result;
    const why = failure?.finding?.sentence ?? failure?.trainerFailure?.message ?? reason;
    const wrong = verdict === 'fail' || verdict === 'error' || (verdict === 'ask' && !answered(result));
    return [
      ...(wrong ? [`${id} ${verdict}s: ${why} ${JSON.stringify(failure?.given)}`] : []),
      ...(verdict === 'thin' && thin.length === 0 ? [`${id} is thin: ${reason}`] : []),
      ...thin.map(({ label, share, least }) => `${id} is thin: "${label}" ${share}, promised ${least}`),
    ];
  });
}

const CONVENTIONS = 'conformance.conventions';

async function openPython(
  resident: Resident | undefined,
  module: string,
  ...args: readonly string[]
): Promise<Opened> {
  const trainer = await (resident === undefined ? startPython(module, args) : resident.open(module, ...args));
  return { trainer, tokenizer: tokenizerOf(trainer.hello.tokenizer) };
}

async function startPython(module: string, args: readonly string[]): Promise<Trainer> {
  const command = ['python3', '-m', module, ...args];
  // Its answers are judged, and not how long it takes for them on a machine that does other things.
  const started = await startTrainer({ command, env: pythonEnvironment(), opMilliseconds: 120_000 });
  if ('failure' in started) throw new Error(`${module} ${args.join(' ')}: ${started.failure.message}`);
  return started.trainer;
}

/** Loaded once a folder: many trainers share a handful of tokenizers. */
const tokenizers = new Map<string, Tokenizer>();

function tokenizerOf(folder: string | undefined): Tokenizer | undefined {
  if (folder === undefined) return undefined;
  const known = tokenizers.get(folder);
  if (known !== undefined) return known;
  const loaded = loadTokenizer(folder);
  if ('problem' in loaded) throw new Error(loaded.problem);
  tokenizers.set(folder, loaded.tokenizer);
  return loaded.tokenizer;
}
