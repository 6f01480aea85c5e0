// Which runs a twin needs, in which order, and what is compared with what.
import { join, resolve } from 'node:path';
import { plural } from '../../report/text/plural.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import { CHANGES, type Change } from '../../twin/changes.ts';
import { distancesOf } from '../../twin/distance.ts';
import type { TwinRun } from '../../twin/run.ts';
import { REPEAT, RESUME, type TwinResult } from '../../twin/twin.ts';
import { mayDifferFromItself } from '../../twin/verdict.ts';
import type { Context } from '../context.ts';
import { type Failure, failedWords } from './failure.ts';
import { after, type Base, compared, failedWith, type Judge, judgeOf, madeBy } from './judging.ts';
import { type Attempt, type Ran, type RunAsk, runTwin, type Stop } from './runs.ts';

export interface Asked {
  readonly command: readonly string[];
  readonly folder: string;
  readonly steps: number;
  readonly changes: readonly Change[];
  /** The user named the changes: one that cannot be made is reported. */
  readonly named: boolean;
  readonly pair?: readonly string[];
  readonly resume?: { readonly save: readonly string[]; readonly go: readonly string[] };
}

export interface Telling {
  readonly begins: (name: string) => void;
  /** A run has ended, by whatever. */
  readonly ran: () => void;
  readonly done: (result: TwinResult, tokenizer: Tokenizer | undefined) => void;
}

/** Tells of each comparison when it is there. A problem: the script itself cannot be run, or is not the same twice. */
export async function twins(
  asked: Asked,
  context: Context,
  telling: Telling,
): Promise<Stop | 'interrupted' | undefined> {
  const { folder, command, steps } = asked;
  const run = async (ask: Pick<RunAsk, 'name'> & Partial<RunAsk>): Promise<Attempt> => {
    telling.begins(ask.name);
    const signs = asked.changes.some(({ ofSize }) => ofSize === true);
    const attempt = await runTwin({ folder, command, steps, signs, ...ask }, context);
    telling.ran();
    return attempt;
  };
  const saved = asked.resume === undefined ? undefined : await savedBy(asked.resume.save, command, run);
  if (saved !== undefined && !isRan(saved)) return saved;
  const resumes = asked.changes.some(({ name }) => name === RESUME);
  const before = saved?.run.steps.filter(({ made }) => made).length ?? (resumes ? steps : 0);
  const bases = basesOf(run, saved === undefined ? { steps, more: before } : { steps: steps + before });
  const plain = await bases(true);
  if (!('noise' in plain)) return plain.stopped;
  const { tokenizer } = plain.run.ledger;

  // What rounding seems to change may be what the script draws anew in each run.
  const changes =
    mayDifferFromItself(plain.noise[0]) && asked.changes.every(({ name }) => name !== REPEAT)
      ? [...CHANGES.filter(({ name }) => name === REPEAT), ...asked.changes]
      : asked.changes;
  for (const comparison of comparisonsOf({ ...asked, changes }, before)) {
    const { name, sentence, lacks, words } = comparison;
    const untold = (why: string): void => {
      if (asked.named) telling.done({ name, sentence, outcome: { kind: 'untold', why } }, tokenizer);
    };
    if (words === undefined || comparison.isUseless?.(plain.run) === true) {
      untold(lacks);
      continue;
    }
    const base = await bases(comparison.dropout);
    if (!('noise' in base)) return base.stopped;
    const checkpoint = join(resolve(context.cwd, folder), 'saved', 'checkpoint');
    if (name === RESUME && comparison.change !== undefined) {
      // Ended at the step after it: the checkpoint is saved between the two.
      const first = await run({ name: 'saved', change: 'save', checkpoint, at: before, steps: before + 1 });
      if (!isRan(first)) return first;
      if (!first.run.applied && first.failure === undefined) {
        untold(lacks);
        continue;
      }
      if (first.failure !== undefined) {
        telling.done({ name, sentence, outcome: failedWith(first.failure) }, tokenizer);
        continue;
      }
    }
    const other = await run({
      name,
      command: words,
      checkpoint,
      dropout: comparison.dropout,
      keeps: comparison.keeps === true,
      ...(comparison.change === undefined ? {} : { change: comparison.change }),
      ...(base.run.half === undefined ? {} : { half: base.run.half }),
    });
    if (!isRan(other)) return other;
    if (comparison.change !== undefined && !other.run.applied && other.failure === undefined) {
      untold(lacks);
      continue;
    }
    const outcome = comparison.judge(base, other);
    telling.done({ name, sentence, outcome }, tokenizer);
    if (name === REPEAT && outcome.kind === 'parts')
      return { problem: 'the script is not the same twice, so that nothing else can be compared with it' };
  }
  return undefined;
}

// --- helpers ---

type Stopped = { readonly stopped: Stop | 'interrupted' };

/** One run that is compared with a base. */
interface Comparison {
  readonly name: string;
  readonly sentence: string;
  /** Its command; undefined: the change cannot be made to this one. */
  readonly words: readonly string[] | undefined;
  /** Made by the tracer, which says that it did. */
  readonly change?: string;
  readonly dropout: boolean;
  readonly keeps?: boolean;
  readonly lacks: string;
  /** What the script was seen to be leaves nothing to change. */
  readonly isUseless?: (run: TwinRun) => boolean;
  readonly judge: Judge;
}

const isRan = (attempt: Attempt): attempt is Ran => attempt !== 'interrupted' && 'run' in attempt;

async function savedBy(
  words: readonly string[],
  command: readonly string[],
  run: (ask: Pick<RunAsk, 'name'> & Partial<RunAsk>) => Promise<Attempt>,
): Promise<Attempt> {
  const saved = await run({ name: 'saved', keeps: true, steps: 0, command: [...command, ...words] });
  return isRan(saved) && saved.failure !== undefined
    ? stoppedBy('the run that saves a checkpoint failed by itself', saved.failure)
    : saved;
}

/** The run without a change, and the same with every weight moved by its rounding; each once, with dropout and without. */
function basesOf(
  run: (ask: Pick<RunAsk, 'name'> & Partial<RunAsk>) => Promise<Attempt>,
  steps: Pick<RunAsk, 'steps' | 'more'>,
): (dropout: boolean) => Promise<Base | Stopped> {
  const bases = new Map<boolean, Base>();
  return async (dropout) => {
    const known = bases.get(dropout);
    if (known !== undefined) return known;
    const name = dropout ? 'base' : 'base-without-dropout';
    const first = await run({ name, dropout, ...steps });
    if (!isRan(first)) return { stopped: first };
    if (madeBy(first) === 0) return { stopped: stepless(first, name) };
    const { half } = first.run;
    const noisy = await run({
      name: `${name}-rounding`,
      dropout,
      noise: true,
      ...steps,
      ...(half === undefined ? {} : { half }),
    });
    if (!isRan(noisy)) return { stopped: noisy };
    if (noisy.failure !== undefined && madeBy(noisy) < madeBy(first))
      return {
        stopped: stoppedBy(
          `the script failed in its second run, ${name}-rounding, and not in its first`,
          noisy.failure,
          '; it may find what the first one left',
        ),
      };
    const base = { run: first.run, noise: distancesOf(first.run, noisy.run) };
    bases.set(dropout, base);
    // What has no dropout is the same without it.
    if (!first.run.hasDropout) bases.set(!dropout, base);
    return base;
  };
}

/** @param before steps that the run that saved a checkpoint made */
function comparisonsOf(asked: Asked, before: number): readonly Comparison[] {
  const { command, changes, pair, resume, steps } = asked;
  const judge: Judge = (base, other) => compared(base, other, steps);
  const plain = { dropout: true, lacks: '', judge };
  return [
    ...changes.map((change) => comparisonOf(change, asked, before)),
    ...(pair === undefined ? [] : [{ ...plain, name: 'pair', sentence: 'the second command', words: pair }]),
    ...(resume === undefined
      ? []
      : [
          {
            ...plain,
            name: RESUME,
            sentence: `the run goes on from a checkpoint after ${before} steps`,
            words: [...command, ...resume.go],
            keeps: true,
            judge: (base: Base, other: Ran) => judge(after(base, before), other),
          },
        ]),
  ];
}

function comparisonOf(change: Change, { command, steps }: Asked, before: number): Comparison {
  const { name, sentence, lacks } = change;
  return {
    name,
    sentence,
    lacks,
    words: change.command === undefined ? command : change.command(command),
    ...(name === REPEAT ? {} : { change: name }),
    dropout: change.withoutDropout !== true,
    isUseless: ({ ledger, hasArguments, could }) =>
      (change.of === 'arguments' && !hasArguments) ||
      (change.of === 'seen' && !could.has(name)) ||
      (change.of === 'batches' && ledger.rows.every(({ batch }) => batch === undefined)),
    judge: judgeOf(change, steps, before),
  };
}

const stoppedBy = (what: string, failure: Failure, more = ''): Stop => ({
  problem: `${what} ${failedWords(failure)}${more}; its output is in ${failure.folder}`,
  lines: failure.lines,
});

/** There is nothing to compare. */
function stepless({ run: { ledger }, failure }: Ran, name: string): Stop {
  if (failure !== undefined) return stoppedBy(`the script failed by itself in the run ${name}`, failure);
  const { processes, rows } = ledger;
  const [blind] = processes.flatMap(({ blind: own }) => own);
  const why = processes.every(({ end }) => end?.torch !== true)
    ? 'none of its processes imported torch'
    : rows.length > 0
      ? `${plural(rows.length, 'row')} went through a model, and no optimiser made a step`
      : (blind?.sentence.replace(/\.$/, '') ?? 'no training of a language model was seen');
  return {
    problem: `the script ended without a step of an optimiser, so that nothing can be compared: ${why}`,
  };
}
