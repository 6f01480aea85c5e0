// A trainer as a test file checks it: with the tokenizer, the declarations, the known failures and the saved cases
// that go with it. `openTrainer` is how a user gets one; testTrainer and toHold judge properties against it.
import { resolve } from 'node:path';
import type { PropertyResult, Replay, RunEvent } from '../../check/events.ts';
import type { Measured } from '../../check/profile/measured.ts';
import { measureUndeclared } from '../../check/profile/undeclared.ts';
import type { Property } from '../../check/property.ts';
import type { Requests } from '../../check/refusals.ts';
import { run } from '../../check/run.ts';
import { type Corpus, openCorpus } from '../../check/saved/corpus.ts';
import type { KnownFailures } from '../../check/saved/known.ts';
import type { StopSignal } from '../../check/stop.ts';
import { REPLAY } from '../../report/failure/reproduce.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { Semantics } from '../../vocabulary.ts';
import { knownFor } from '../check/chosen.ts';
import { makePlan, type Plan, type TrainerOptions } from '../check/plan.ts';
import { DEFAULT_CASES } from '../config/trainer-keys.ts';
import { rememberCommand } from '../consent/consent.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { casesFolder } from '../trainer/cases-folder.ts';
import { openPlan, startProblem } from '../trainer/open.ts';
import { replayOf } from '../trainer/session.ts';
import { commandOf } from '../trainer/trainer.ts';
import { splitCommand } from '../trainer/words.ts';

/** What stays the same from property to property. */
export interface Setting {
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
  /** What the user says of the trainer, over what it declares. */
  readonly semantics: Semantics | undefined;
  readonly known: KnownFailures;
  /** Cases per property, where none are asked for. */
  readonly cases: number;
  /** Absent: nothing is saved, and nothing saved is run. */
  readonly corpus: Corpus | undefined;
  readonly command: string;
  /** Which of several trainers of the configuration it is. */
  readonly name?: string | undefined;
  readonly replay: Replay;
  /** What it was measured to do and does not declare; measured once, unless that was cut short. */
  readonly measured: (signal?: StopSignal) => Promise<Measured>;
}

/** A trainer that knows its folder. Whoever opens it stops it. */
export interface OpenTrainer extends Trainer {
  readonly setting: Setting;
}

export interface OpenOptions extends Omit<TrainerOptions, 'bundled'> {
  /** Where the command runs, where lossproof.config.* is looked for, upward, and where .lossproof/ stands. Default: the working directory. */
  readonly cwd?: string;
  /** Default: that of the process. LOSSPROOF_TRAINER is read from it. */
  readonly env?: Context['env'];
  /** Which of several trainers of one test run it is: its cases are saved apart, for what one fails another may hold. */
  readonly label?: string;
  /** What reports say in the place of the command, where nobody could type it. */
  readonly called?: string;
  /** False: nothing is saved, and nothing saved is run. Default: as the configuration says. */
  readonly keep?: boolean;
}

/**
 * Starts a trainer and waits for its hello: the command, as one text or as words; without one, the trainer that
 * lossproof.config.* or LOSSPROOF_TRAINER names. The configuration holds for a typed command, too, as on the
 * command line.
 * @throws Error with code ERR_TRAINER_OPEN and what to do, where there is no trainer; nothing is left running then.
 */
export async function openTrainer(
  command?: string | readonly string[],
  options: OpenOptions = {},
): Promise<OpenTrainer> {
  const words = typeof command === 'string' ? splitCommand(command) : (command ?? []);
  const setting = isProblem(words) ? words : await openSetting(words, options);
  if (isProblem(setting)) throw Object.assign(new Error(setting.problem), { code: 'ERR_TRAINER_OPEN' });
  return { ...setting.trainer, setting };
}

/** The same as a value, with the plan that it was opened by. Nothing named is a problem, unless `bundled` allows the example. */
export async function openSetting(
  command: readonly string[],
  { cwd = process.cwd(), env = process.env, label, called, keep = true, ...typed }: OpenOptions,
  bundled = false,
): Promise<(Setting & { readonly plan: Plan }) | Problem> {
  const place = { cwd, env };
  const plan = await makePlan(typed, command, place, 'bundled');
  if (isProblem(plan)) return plan;
  // A green test of the bundled example would be taken for one of the user's trainer.
  if (plan.choice.from === 'bundled' && !bundled) return { problem: NOBODY };
  const listed = knownFor({}, plan, cwd);
  if (isProblem(listed)) return listed;
  const opened = await openPlan(plan);
  if ('failure' in opened) return startProblem(plan, opened.failure);
  if (isProblem(opened)) return opened;
  const { trainer, tokenizer, semantics } = opened;
  const config = plan.loaded?.config;
  const kept = keep && config?.corpus !== false;
  const name = plan.name ?? label;
  const savedCommand = called ?? commandOf(plan.choice);
  if (kept) rememberCommand(savedCommand, place);
  return {
    plan,
    trainer,
    tokenizer,
    semantics,
    known: listed.of(trainer.hello),
    cases: config?.cases ?? DEFAULT_CASES,
    corpus: kept ? openCorpus(resolve(cwd, casesFolder(name))) : undefined,
    command: savedCommand,
    name: plan.name,
    replay: { ...replayOf(plan, place, kept), ...(kept ? { folder: casesFolder(name) } : {}) },
    measured: measuring(trainer, tokenizer, semantics),
  };
}

const NOBODY =
  'no trainer is named: `npx lossproof init` writes lossproof.config.json, or set LOSSPROOF_TRAINER to its command';

/** Of a trainer that was started elsewhere: nothing is known of it but what it declares. */
export function bareSetting(trainer: Trainer): Setting | Problem {
  const { tokenizer: folder } = trainer.hello;
  const loaded = folder === undefined ? undefined : loadTokenizer(folder);
  if (loaded !== undefined && isProblem(loaded)) return loaded;
  const tokenizer = loaded?.tokenizer;
  return {
    trainer,
    tokenizer,
    semantics: undefined,
    known: {},
    cases: DEFAULT_CASES,
    corpus: undefined,
    command: '',
    replay: REPLAY,
    measured: measuring(trainer, tokenizer, undefined),
  };
}

export interface JudgeOptions {
  readonly seed: number;
  readonly cases?: number | undefined;
  readonly known?: KnownFailures | undefined;
  readonly shrinkMilliseconds?: number | undefined;
  /** Saved cases run first, and failures are saved. */
  readonly corpus?: Corpus | undefined;
  readonly signal?: StopSignal | undefined;
  /** What is legal and often not meant fails as well, until it is declared. */
  readonly strict?: boolean | undefined;
  /** Ids of every property there is: what is known to fail and is none of them is told, too. Absent: not asked. */
  readonly everyId?: readonly string[] | undefined;
  /** Counted on over several calls. Absent: of this one. */
  readonly requests?: Requests | undefined;
  /** Sees what happens as it does. */
  readonly emit?: ((event: RunEvent) => void) | undefined;
}

/** The verdicts on these properties, in order. */
export async function judge(
  setting: Setting,
  properties: readonly Property[],
  options: JudgeOptions,
): Promise<readonly PropertyResult[]> {
  const { trainer, tokenizer, semantics, command, name, replay } = setting;
  const {
    seed,
    shrinkMilliseconds,
    corpus,
    signal,
    strict,
    everyId,
    requests,
    emit = () => undefined,
  } = options;
  if (properties.length === 0) return [];
  return await run(
    {
      trainer,
      tokenizer,
      properties,
      seed,
      command,
      ...(name === undefined ? {} : { name }),
      replay,
      cases: options.cases ?? setting.cases,
      measured: await setting.measured(signal),
      known: options.known ?? setting.known,
      ...(semantics === undefined ? {} : { semantics }),
      ...(requests === undefined ? {} : { requests }),
      ...(shrinkMilliseconds === undefined ? {} : { shrinkMilliseconds }),
      ...(corpus === undefined ? {} : { corpus }),
      ...(signal === undefined ? {} : { signal }),
      ...(strict === undefined ? {} : { strict }),
      ...(everyId === undefined ? {} : { catalogue: everyId }),
    },
    emit,
  );
}

function measuring(
  trainer: Trainer,
  tokenizer: Tokenizer | undefined,
  semantics: Semantics | undefined,
): Setting['measured'] {
  let measured: Promise<Measured> | undefined;
  return async (signal) => {
    const first = measured === undefined;
    measured ??= measureUndeclared({
      trainer,
      tokenizer,
      ...(semantics === undefined ? {} : { semantics }),
      ...(signal === undefined ? {} : { signal }),
    });
    const found = await measured;
    if (first && signal?.aborted) measured = undefined;
    return found;
  };
}
