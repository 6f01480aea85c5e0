// `mutate`: what a green run is worth. The trainer's own Python is changed, one small change at a time and never on disk, and
// each time the properties that reach the change have to notice.
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { LONGEST_TIMER } from '../../bounds.ts';
import { measureUndeclared } from '../../check/profile/undeclared.ts';
import type { Property } from '../../check/property.ts';
import { worldOf } from '../../check/run.ts';
import { supportOf } from '../../check/support.ts';
import { type AbsentProperty, type MutateStart, mutationOf, scoreOf } from '../../mutate/events.ts';
import { mutate as mutateAll } from '../../mutate/run.ts';
import { mutateLines } from '../../report/mutate/mutate.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { VERSION } from '../../version.ts';
import { type ChosenKnown, chosenProperties, knownFor } from '../check/chosen.ts';
import { makePlan, type Plan } from '../check/plan.ts';
import { DEFAULT_CASES } from '../config/trainer-keys.ts';
import { type Context, isProblem, type Problem, refuse, say } from '../context.ts';
import { INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import {
  addTrainerOptions,
  collect,
  type Invocation,
  levelName,
  positive,
  SEED_WORDS,
  seedNumber,
  seedOfEnvironment,
  wholePositive,
} from '../options.ts';
import { widthOfScreen } from '../screen.ts';
import { type Session, sayBundled, withSession } from '../trainer/session.ts';
import { commandOf } from '../trainer/trainer.ts';
import { goingOn } from './going-on.ts';
import { type Kept, keep, keptFile, keptMutation } from './kept.ts';
import type { MutateOptions } from './options.ts';
import { writable, writeOutputs } from './outputs.ts';
import { type Folder, planIn, processesOf, sharedFolder } from './processes.ts';
import { progressOf } from './progress.ts';
import { sourcesOf } from './sources.ts';
import { headLines, notGreenProblem } from './told.ts';
import { codeOf } from './verdict.ts';

export function addMutate(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('mutate')
    .summary('list code changes that no property finds')
    .description(
      "make one small change at a time to a trainer's Python code, never on disk, and list the changes that no property finds",
    )
    .usage('[options] [-- trainer command...]')
    .option(
      '--source <files>',
      'code to change: files, globs, or an imported module; repeatable (default: modules of its project that the adapter imports)',
      collect,
    )
    .option('--only <ids>', 'properties by id, stage or glob, separated by commas; repeatable', collect)
    .option(
      '--level <level>',
      'levels to run: must (default), should, may; each includes those before it',
      levelName,
    )
    .option('--cases <n>', `cases per property (default ${DEFAULT_CASES}, as \`check\`)`, wholePositive)
    .option('--seed <n>', SEED_WORDS, seedNumber)
    .option('--known <file>', 'known failures: {"id": {"reason": "..."}}')
    .option(
      '--max-time <seconds>',
      'stop after this time, including the start; the tried changes are a fair sample of all',
      positive,
    )
    .option('--workers <n>', `changes to try in parallel (default ${defaultWorkers()})`, wholePositive)
    .option('--resume', 'continue an interrupted run of the same trainer')
    .option('--at-least <percent>', 'fail if a smaller share of the reached changes is found', percentage)
    .option('--json <file>', 'write the result of each change; - for standard output')
    .option('--html <file>', 'write an HTML page with the files and their changes')
    .option('--quiet', 'print the final line only');
  addTrainerOptions(tell(command, WORDS)).action(async (options: MutateOptions) =>
    finish(await mutate(options, rest, context)),
  );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof mutate -- python adapter.py' },
    { command: 'npx lossproof mutate --source my_trainer.py --html changes.html -- python adapter.py' },
    { command: 'npx lossproof mutate --max-time 300 --at-least 80 -- python adapter.py' },
    { command: 'npx lossproof mutate --resume -- python adapter.py', does: 'after Ctrl-C or a kill' },
    { command: 'npx lossproof mutate --adapter trl-grpo --cases 5 --max-time 600' },
  ],
  notes: [
    'A change that survives is information: the exit code is 0 unless --at-least says otherwise. `check` names the last score of its trainer.',
    'Changes run in forks of one process that has imported everything: Linux, and macOS, where it was never run.',
  ],
  exit: {
    0: 'every change was tried, or as many as time allowed',
    1: 'fewer changes were found than --at-least asks for',
    2: 'no verdict: the unchanged trainer fails, nothing could be changed, or time ran out before --at-least could be judged',
    130: 'interrupted',
  },
};

/** Beside the engine, which draws the cases and judges them. */
const MOST_WORKERS = 4;

function defaultWorkers(): number {
  return Math.min(MOST_WORKERS, Math.max(2, availableParallelism()));
}

function percentage(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 100))
    throw new InvalidArgumentError('It must be a number from 0 to 100.');
  return value;
}

async function mutate(options: MutateOptions, rest: readonly string[], context: Context): Promise<number> {
  const begun = context.begun ?? performance.now();
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  if (plan.choice.kind === 'object')
    return refuse(context, {
      problem: `mutate changes Python; the trainer of ${plan.choice.file} is an object of this process`,
    });
  const properties = await context.properties();
  const chosen = chosenProperties(options, plan.loaded, properties);
  if (isProblem(chosen)) return refuse(context, chosen);
  const known = knownFor(options, plan, context.cwd);
  if (isProblem(known)) return refuse(context, known);
  const unwritable = writable(options, context);
  if (unwritable !== undefined) return refuse(context, unwritable);
  // Standard output is the JSON's, where it goes there.
  const place = options.json === '-' ? { ...context, out: { ...context.err, isTty: false } } : context;
  const folder = sharedFolder(
    { root: plan.choice.cwd, here: context.cwd, sources: sourcesOf(options.source, plan.choice) },
    context.env,
  );
  const gone = context.atCrash?.(async () => folder.remove());
  try {
    const changed: Plan = { ...plan, environments: [{ ...plan.environments?.[0], ...folder.env }] };
    sayBundled(plan, place);
    return await withSession(changed, place, (session) =>
      mutateWith(session, { options, folder, ...chosen, known, begun }, place, context),
    );
  } finally {
    folder.remove();
    gone?.();
  }
}

function absentOf({ id, ops }: Property, reason: string | undefined): readonly AbsentProperty[] {
  return reason === undefined ? [] : [{ id, ops, reason }];
}

interface Meant {
  readonly options: MutateOptions;
  readonly folder: Folder;
  readonly properties: readonly Property[];
  readonly leftOut: readonly Property[];
  readonly known: ChosenKnown;
  /** By `performance.now()`: importing the trainer is part of what is waited for. */
  readonly begun: number;
}

async function mutateWith(
  session: Session,
  { options, folder, properties, leftOut, known, begun }: Meant,
  place: Context,
  context: Context,
): Promise<number> {
  const { plan, trainer, tokenizer, semantics, interrupts } = session;
  const fresh = seedOfEnvironment(context.env);
  const told = planIn(folder);
  if (isProblem(told)) return refuse(context, told);
  const [problem] = told.problems;
  if (problem !== undefined) return refuse(context, { problem });
  if (!told.forks)
    return refuse(context, { problem: 'mutate forks the trainer for each change, which this system cannot' });
  if (told.changes.length === 0)
    return refuse(context, {
      problem:
        told.files.length === 0
          ? 'the adapter imports nothing of its own project; name the files with --source'
          : `nothing to change in ${told.files.map(({ shown }) => shown).join(', ')}; name other files with --source`,
    });
  const paint = choosePaint(place.out.isTty, place.env);
  const processes = processesOf({ plan, folder, told });
  const time = new AbortController();
  const remaining = (options.maxTime ?? Number.POSITIVE_INFINITY) * 1_000 - (performance.now() - begun);
  const timer = setTimeout(
    () => {
      time.abort();
      processes.end();
    },
    Math.min(Math.max(remaining, 0), LONGEST_TIMER),
  );
  interrupts.onPatienceOver(() => processes.end());
  let kept: Kept | undefined;
  try {
    const one = await processes.plain();
    const failed = typeof one === 'string' || 'failure' in one;
    if (failed && interrupts.signal.aborted) return INTERRUPTED;
    if (failed && time.signal.aborted) return refuse(context, TOO_SHORT);
    if (failed)
      return refuse(context, {
        problem: `a fork of the trainer does not answer: ${typeof one === 'string' ? one : one.failure.message} What holds a GPU or a thread of its own cannot be forked: build it in the op that needs it, or use the CPU`,
      });
    const measured = await measureUndeclared({
      trainer: one.trainer,
      tokenizer,
      signal: AbortSignal.any([interrupts.signal, time.signal]),
      ...(semantics === undefined ? {} : { semantics }),
    }).finally(() => one.trainer.stop());
    if (interrupts.signal.aborted) return INTERRUPTED;
    if (time.signal.aborted) return refuse(context, TOO_SHORT);
    // As `check` has it: what is measured is known.
    const world = worldOf(trainer, tokenizer, semantics, measured.semantics);
    const asked = createHash('sha256')
      .update(
        JSON.stringify([properties.map(({ id }) => id), known.of(trainer.hello), trainer.hello, semantics]),
      )
      .digest('hex');
    const file = keptFile(plan);
    const before = options.resume === true ? keptMutation(file, context) : undefined;
    const start: MutateStart = {
      type: 'mutate-start',
      version: VERSION,
      command: commandOf(plan.choice),
      ...(plan.name === undefined ? {} : { name: plan.name }),
      started: new Date().toISOString(),
      seed: options.seed ?? before?.start.seed ?? fresh,
      cases: options.cases ?? plan.loaded?.config.cases ?? DEFAULT_CASES,
      asked,
      files: told.files.map(({ isScript: _, ...each }) => each),
      changes: told.changes,
      ops: Object.keys(trainer.hello.ops),
      absent: [
        ...properties.flatMap((property) => absentOf(property, supportOf(property, world))),
        ...leftOut.flatMap((property) =>
          absentOf(property, `level ${property.level} is left out (--level ${property.level})`),
        ),
      ],
    };
    const going =
      options.resume === true ? goingOn(before, start, file) : { start, baseline: [], judged: [] };
    if (isProblem(going)) return refuse(context, going);
    const opened = keep(file, options.resume === true, context);
    if (isProblem(opened)) return refuse(context, opened);
    kept = opened;
    const events: Parameters<typeof opened.emit>[0][] = [];
    if (options.resume !== true) opened.emit(start);
    const width = widthOfScreen(place);
    if (options.quiet !== true) say(place, ...headLines(going, width));
    const progress = progressOf(place, options.quiet === true);
    const absent = new Set(start.absent.map(({ id }) => id));
    const notGreen = await mutateAll(
      {
        processes,
        measured,
        declared: trainer.hello.semantics,
        tokenizer,
        ...(semantics === undefined ? {} : { semantics }),
        properties: properties.filter(({ id }) => !absent.has(id)),
        before: going,
        known: known.of(trainer.hello),
        seed: going.start.seed,
        cases: start.cases,
        command: start.command,
        workers: options.workers ?? defaultWorkers(),
        signal: interrupts.signal,
        time: time.signal,
        begun,
      },
      (event) => {
        events.push(event);
        opened.emit(event);
      },
      progress.show,
    );
    progress.end();
    // What was ended in the middle says nothing of the trainer as it is.
    if (notGreen !== undefined && interrupts.signal.aborted) return INTERRUPTED;
    if (notGreen !== undefined) return refuse(context, notGreenProblem(notGreen, plan));
    const mutation = mutationOf([going.start, ...going.baseline, ...going.judged, ...events]);
    if (mutation === undefined) return interrupts.signal.aborted ? INTERRUPTED : NO_VERDICT;
    const lines = mutateLines(mutation, { width, paint });
    say(place, ...(options.quiet === true ? lines.slice(lines.lastIndexOf('') + 1) : lines));
    const left = scoreOf(mutation).left;
    if (left > 0 && options.quiet !== true)
      say(
        place,
        paint.dim(`${plural(left, 'change')} not yet tried: the same command with --resume goes on`),
      );
    const unwritten = await writeOutputs(mutation, options, context);
    if (unwritten !== undefined) return refuse(context, unwritten);
    if (interrupts.signal.aborted) return INTERRUPTED;
    return codeOf(mutation, options, context);
  } finally {
    clearTimeout(timer);
    kept?.close();
  }
}

const TOO_SHORT: Problem = {
  problem:
    '--max-time was over before the trainer had been started and measured; there is nothing to go on with',
};
