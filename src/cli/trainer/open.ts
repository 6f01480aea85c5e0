// From a plan to a trainer that has said hello and a tokenizer that can be read. Whoever opens it stops it.
import { resolve } from 'node:path';
import type { Measured } from '../../check/profile/measured.ts';
import { measureUndeclared } from '../../check/profile/undeclared.ts';
import type { StopSignal } from '../../check/stop.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { TrainerFailure } from '../../trainer/failure.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { Semantics } from '../../vocabulary.ts';
import type { Plan } from '../check/plan.ts';
import { isProblem, type Problem } from '../context.ts';
import { commandOf, type Deadlines, startChosen } from './trainer.ts';

export interface Opened {
  readonly plan: Plan;
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
  /** From the configuration, to be merged over what the trainer declares. */
  readonly semantics: Semantics | undefined;
}

/** Nothing is left running where this is a failure or a problem. */
export async function openPlan(plan: Plan): Promise<Opened | { readonly failure: TrainerFailure } | Problem> {
  const { choice, options } = plan;
  if (choice.kind === 'object' && (options.renewAfter ?? options.renewAbove) !== undefined)
    return { problem: `${nameOf(plan)} is an object in this process, which cannot be renewed` };
  const started = await startChosen(choice, deadlinesOf(plan));
  if ('failure' in started) return started;
  const { trainer } = started;
  const tokenizer = tokenizerFor(plan, trainer);
  if (tokenizer !== undefined && isProblem(tokenizer)) {
    await trainer.stop();
    return tokenizer;
  }
  return { plan, trainer, tokenizer, semantics: plan.loaded?.config.semantics };
}

/** One more process of the same command, for a run that judges on several: worker `number`, from 2. */
export function startAnother(
  plan: Plan,
  number: number,
  onStart: (giveUp: () => void) => void,
): ReturnType<typeof startChosen> {
  return startChosen(plan.choice, deadlinesOf(plan, number), onStart);
}

/** Why there is no trainer, for whoever has no screen of ours: several lines. */
export function startProblem(plan: Plan, { message, advice, stderrTail }: TrainerFailure): Problem {
  return {
    problem: [`${nameOf(plan)} did not start`, message, advice, stderrTail ?? ''].join('\n').trimEnd(),
  };
}

/** What is held against a trainer beyond what it and the configuration declare: what it was measured to do. */
export function measuredOf(
  { trainer, tokenizer, semantics }: Opened,
  signal?: StopSignal,
): Promise<Measured> {
  return measureUndeclared({
    trainer,
    tokenizer,
    ...(semantics === undefined ? {} : { semantics }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The trainer as it is said to the user. */
export function nameOf({ choice }: Plan): string {
  return choice.kind === 'object' ? `the trainer of ${choice.file}` : commandOf(choice);
}

export function deadlinesOf({ options, loaded, environments }: Plan, worker = 1): Deadlines {
  const env = environments?.[worker - 1];
  const hello = options.helloTimeout ?? loaded?.config.helloTimeout;
  const op = options.opTimeout ?? loaded?.config.opTimeout;
  return {
    ...(hello === undefined ? {} : { helloMilliseconds: hello * 1_000 }),
    ...(op === undefined ? {} : { opMilliseconds: op * 1_000 }),
    ...renewOf(options),
    ...(env === undefined ? {} : { env }),
  };
}

function renewOf({ renewAfter, renewAbove }: Plan['options']): Pick<Deadlines, 'renew'> {
  if (renewAfter === undefined && renewAbove === undefined) return {};
  return {
    renew: {
      ...(renewAfter === undefined ? {} : { requests: renewAfter }),
      ...(renewAbove === undefined ? {} : { bytes: renewAbove * 1e9 }),
    },
  };
}

/** Absolute; a declared folder is relative to where the trainer runs. */
export function tokenizerFolder({ choice, loaded, tokenizer }: Plan, trainer: Trainer): string | undefined {
  const declared = trainer.hello.tokenizer;
  const base = choice.kind === 'command' ? choice.cwd : (loaded?.folder ?? '.');
  return tokenizer ?? (declared === undefined ? undefined : resolve(base, declared));
}

function tokenizerFor(plan: Plan, trainer: Trainer): Tokenizer | Problem | undefined {
  const folder = tokenizerFolder(plan, trainer);
  if (folder === undefined) return undefined;
  const backend = plan.loaded?.config.tokenizerBackend;
  const result = loadTokenizer(folder, backend === undefined ? {} : { backend });
  return 'problem' in result ? { problem: result.problem } : result.tokenizer;
}
