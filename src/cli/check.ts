// `check`: every chosen property against one trainer, live on the terminal.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { openCorpus } from '../check/corpus.ts';
import type { RunEvent } from '../check/events.ts';
import { run } from '../check/run.ts';
import { junitReport } from '../report/junit.ts';
import { eventLine } from '../report/ndjson.ts';
import { choosePaint } from '../report/paint.ts';
import { semanticsWords } from '../report/profile.ts';
import { terminalReport } from '../report/terminal.ts';
import { VERSION } from '../version.ts';
import type { Level } from '../vocabulary.ts';
import { chosenProperties, DEFAULT_CASES, knownFor } from './chosen.ts';
import { type Context, isProblem, type Problem, refuse, say } from './context.ts';
import { exitCodeOf, NO_VERDICT } from './exit.ts';
import { measuredSemantics } from './open.ts';
import {
  addTrainerOptions,
  anySeed,
  collect,
  type Invocation,
  levelName,
  positive,
  seedNumber,
  wholePositive,
} from './options.ts';
import { makePlan, type TrainerOptions } from './plan.ts';
import { CASES_FOLDER, replayOf, type Session, sayBundled, widthOfScreen, withSession } from './session.ts';
import { commandOf } from './trainer.ts';
import { type ChosenRun, leftOutOf, rewriteKnown } from './update-known.ts';

interface CheckOptions extends TrainerOptions {
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly cases?: number;
  readonly seed?: number;
  readonly corpus: boolean;
  readonly profile: boolean;
  readonly known?: string;
  readonly updateKnown?: boolean;
  readonly labels?: boolean;
  readonly shrinkTime?: number;
  readonly events?: string;
  readonly junit?: string;
  readonly quiet?: boolean;
}

export function addCheck(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('check')
    .description('put generated cases through a trainer and say what is wrong with it')
    .usage('[options] [-- trainer command...]')
    .option('--only <ids>', 'properties by id, stage or glob, separated by commas; repeatable', collect)
    .option('--level <level>', 'must, should (with must) or may (all); default must', levelName)
    .option('--cases <n>', `cases a property (default ${DEFAULT_CASES})`, wholePositive)
    .option('--seed <n>', 'choose the cases; printed first in every run', seedNumber)
    .option('--no-corpus', `neither read nor keep failing cases in ${CASES_FOLDER}`)
    .option('--no-profile', 'do not measure what the trainer leaves undeclared; accept any known variant')
    .option('--known <file>', 'known failures: {"id": {"reason": "..."}}')
    .option('--update-known', 'write what this run found into that file; reasons and links stay')
    .option('--labels', 'show what the cases of each property exercised, and what they must')
    .option('--shrink-time <seconds>', 'longest search for a smaller case', positive)
    .option('--events <file>', 'write the run as JSON lines')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--quiet', 'print failures and the final line only');
  addTrainerOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options: CheckOptions) => finish(await check(options, rest, context)));
}

const EXAMPLES = `
Examples:
  npx trainproof check -- python adapter.py
  npx trainproof check --adapter trl-grpo
  npx trainproof check --only 'mask/*,kl' --cases 500 -- python adapter.py
  npx trainproof check --seed 1836021 --only mask/prompt-is-never-trained -- python adapter.py

Exit code: 0 all hold, 1 one fails, errs, is thin, or a known failure is not as recorded, 2 no verdict, 130 interrupted.`;

async function check(options: CheckOptions, rest: readonly string[], context: Context): Promise<number> {
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  const properties = await context.properties();
  const chosen = chosenProperties(options, plan.loaded, properties);
  if (isProblem(chosen)) return refuse(context, chosen);
  const known = knownFor(options, plan, context.cwd, options.updateKnown);
  if (isProblem(known)) return refuse(context, known);
  if (options.updateKnown === true && known.file === undefined)
    return refuse(context, {
      problem: '--update-known needs --known <file>, or `known` in the configuration',
    });
  const sinks = openSinks(options, context);
  if (isProblem(sinks)) return refuse(context, sinks);

  const seed = options.seed ?? anySeed();
  say(context, `trainproof ${VERSION} · seed ${seed}`);
  sayBundled(plan, context);
  try {
    return await withSession(plan, context, (session) =>
      checkWith(session, options, context, sinks.emit, {
        properties: chosen,
        seed,
        known,
        catalogue: properties.map(({ id }) => id),
      }),
    );
  } finally {
    sinks.close();
  }
}

async function checkWith(
  session: Session,
  options: CheckOptions,
  context: Context,
  sink: (event: RunEvent) => void,
  chosen: ChosenRun,
): Promise<number> {
  const { trainer, tokenizer, interrupts } = session;
  const measured = options.profile ? await measuredSemantics(session, interrupts.signal) : {};
  const words = semanticsWords(measured);
  if (words !== undefined && options.quiet !== true) say(context, `measured, not declared: ${words}`);
  const leftOut = leftOutOf(chosen);
  if (leftOut.length > 0 && options.quiet !== true)
    say(context, `known failures that this run leaves out (--only, --level): ${leftOut.join(', ')}`);
  const { choice, loaded } = session.plan;
  const kept = options.corpus && loaded?.config.corpus !== false;
  const replay = replayOf(choice, context, kept);
  const report = terminalReport({
    write: context.out.write,
    width: widthOfScreen(context),
    paint: choosePaint(context.out.isTty, context.env),
    replay,
    live: context.out.isTty && options.quiet !== true && !context.env.CI,
    quiet: options.quiet === true,
    labels: options.labels === true,
    now: () => performance.now(),
    ...(choice.from === 'bundled' ? { note: 'the bundled example, not your trainer' } : {}),
  });
  const results = await run(
    {
      trainer,
      tokenizer,
      ...chosen,
      known: chosen.known.known,
      cases: options.cases ?? loaded?.config.cases ?? DEFAULT_CASES,
      measured,
      replay,
      ...(session.semantics === undefined ? {} : { semantics: session.semantics }),
      ...(kept ? { corpus: openCorpus(resolve(context.cwd, CASES_FOLDER)) } : {}),
      ...(options.shrinkTime === undefined ? {} : { shrinkMilliseconds: options.shrinkTime * 1_000 }),
      signal: interrupts.signal,
      command: commandOf(choice),
    },
    (event) => {
      sink(event);
      report(event);
    },
  );
  if (options.junit !== undefined) {
    writeFileSync(resolve(context.cwd, options.junit), junitReport(results, trainer.hello.name, replay));
  }
  const counted = options.updateKnown
    ? rewriteKnown(results, chosen, interrupts.signal.aborted, context)
    : results;
  const code = exitCodeOf(counted, interrupts.signal.aborted);
  if (code === NO_VERDICT) {
    context.err.write('trainproof: nothing was checked; `trainproof doctor` says what the trainer lacks\n');
  }
  return code;
}

/** Opened before the run, so that a wrong path is said before minutes are spent. */
function openSinks(
  options: CheckOptions,
  context: Context,
): { emit: (event: RunEvent) => void; close: () => void } | Problem {
  if (options.events === undefined) return { emit: () => {}, close: () => {} };
  const file = resolve(context.cwd, options.events);
  try {
    const descriptor = openSync(file, 'w');
    return {
      emit: (event) => void writeSync(descriptor, eventLine(event)),
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    return {
      problem: `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
