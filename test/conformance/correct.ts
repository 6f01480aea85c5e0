// Every trainer that is right: the examples, all conventions in Python, and the legal object trainers; and how one
// of them is judged, which is how the command judges: measured first, then checked. What fails one is a false positive.
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
import { filters } from './advantages/filters.ts';
import { graders } from './advantages/graders.ts';
import { groupAdvantages } from './advantages/groups.ts';
import { ownAdvantages } from './advantages/own-formulas.ts';
import { tokenAdvantages } from './advantages/tokens.ts';
import type { Legal } from './legal.ts';
import { neverEmpty } from './losses/never-empty.ts';
import { ownFormulas } from './losses/own-formulas.ts';
import { pairLosses } from './losses/pairs.ts';
import { policyLosses } from './losses/policy.ts';
import { rewardLosses } from './losses/reward-loss.ts';
import { besideEngines } from './losses/sampling-gap.ts';
import { settings } from './losses/settings.ts';
import { lossShards } from './losses/shards.ts';
import { singleTurns } from './losses/single-turn.ts';
import { unpairedLosses } from './losses/unpaired-loss.ts';
import { unusualLosses } from './losses/unusual.ts';
import { criticLosses } from './losses/value-loss.ts';
import { scorers } from './models/scorers.ts';
import { updates } from './models/updates.ts';
import { contracts } from './pipelines/contract.ts';
import { pipelines } from './pipelines/pipelines.ts';
import { completions } from './rollouts/completions.ts';
import { ends } from './rollouts/ends.ts';
import { penalties } from './rollouts/penalties.ts';
import { resuming } from './rollouts/resuming.ts';
import { samplers } from './rollouts/samplers.ts';
import { short } from './rollouts/short.ts';
import { tools } from './rollouts/tools.ts';
import { rewardedTurns } from './rollouts/turn-rewards.ts';
import { turns } from './rollouts/turns.ts';
import { collators } from './rows/collate.ts';
import { fillerRows } from './rows/filler-rows.ts';
import { pairRows } from './rows/pairs.ts';
import { truncation } from './rows/truncation.ts';
import { critics } from './scores/critics.ts';
import { legalEntropies } from './scores/entropies.ts';
import { estimates } from './scores/estimates.ts';
import { fullKls } from './scores/full-kl.ts';
import { ownEstimates } from './scores/own-formulas.ts';
import { scoreShards } from './scores/shards.ts';
import { coarseScores } from './scores/unusual.ts';
import { batches } from './text/batches.ts';
import { calls } from './text/calls.ts';
import { cutRows } from './text/cut-rows.ts';
import { dialogues } from './text/dialogues.ts';
import { plainChats } from './text/plain-chats.ts';
import { texts } from './text/texts.ts';
import { trainFlags } from './text/train-flags.ts';

export interface Correct {
  readonly name: string;
  /** Whoever opens it stops it. */
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

/** The object trainers by the folder that they stand in. */
const objects: Readonly<Record<Family, readonly Legal[]>> = {
  text: [...batches, ...calls, ...cutRows, ...dialogues, ...plainChats, ...texts, ...trainFlags],
  rows: [...collators, ...fillerRows, ...pairRows, ...truncation],
  rollouts: [
    ...completions,
    ...ends,
    ...penalties,
    ...samplers,
    ...short,
    ...tools,
    ...turns,
    ...rewardedTurns,
    ...resuming,
  ],
  scores: [
    ...critics,
    ...legalEntropies,
    ...estimates,
    ...ownEstimates,
    ...fullKls,
    ...scoreShards,
    ...coarseScores,
  ],
  advantages: [...filters, ...graders, ...groupAdvantages, ...ownAdvantages, ...tokenAdvantages],
  losses: [
    ...pairLosses,
    ...policyLosses,
    ...settings,
    ...lossShards,
    ...unusualLosses,
    ...besideEngines,
    ...singleTurns,
    ...criticLosses,
    ...neverEmpty,
    ...ownFormulas,
    ...rewardLosses,
    ...unpairedLosses,
  ],
  models: [...scorers, ...updates],
  pipelines: [...contracts, ...pipelines],
};

export const LEGAL: readonly LegalTrainer[] = familyNames.flatMap((family) =>
  objects[family].map(({ name, trainer, tokenizer, is }) => ({
    name,
    family,
    ops: Object.keys(trainer.hello.ops) as Op[],
    open: async () => ({ trainer, tokenizer }),
    ...(is === undefined ? {} : { is }),
  })),
);

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
  const started = await startTrainer({ command, env: pythonEnvironment() });
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
