// `check`: every chosen property against one trainer, live on the terminal.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { chosenBackend, closeKernel, useBackend } from '../../check/kernel.ts';
import type { RunOptions } from '../../check/options.ts';
import { bearingOn } from '../../check/profile/bearing.ts';
import { NOT_MEASURED } from '../../check/profile/measured.ts';
import type { Property } from '../../check/property.ts';
import { run, worldOf } from '../../check/run.ts';
import { openCorpus } from '../../check/saved/corpus.ts';
import { supportOf } from '../../check/support.ts';
import { BACKENDS, type BackendName } from '../../kernel/index.ts';
import { semanticsWords } from '../../report/profile.ts';
import { terminalReport } from '../../report/terminal.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { wrap } from '../../report/text/visible.ts';
import { VERSION } from '../../version.ts';
import { LEVELS, type Level, type Semantics } from '../../vocabulary.ts';
import { DEFAULT_CASES } from '../config/keys.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { exitCodeOf, FAILED, HOLDS, NO_VERDICT } from '../exit.ts';
import {
  addTrainerOptions,
  backendName,
  collect,
  type Invocation,
  levelName,
  positive,
  seedNumber,
  wholePositive,
} from '../options.ts';
import { LAST_RUN } from '../outputs/last-run.ts';
import { addOutputOptions } from '../outputs/outputs.ts';
import { checkOnRay } from '../ray/check.ts';
import { addRayOptions, type RayOptions, rayComplaint } from '../ray/options.ts';
import { anySeed } from '../seed.ts';
import { measuredOf } from '../trainer/open.ts';
import {
  CASES_FOLDER,
  replayOf,
  type Session,
  sayBundled,
  widthOfScreen,
  withSession,
} from '../trainer/session.ts';
import { commandOf } from '../trainer/trainer.ts';
import { chosenProperties, knownFor } from './chosen.ts';
import { makePlan, type Plan, type TrainerOptions } from './plan.ts';
import { openRecord, type RecordOptions, type RunRecord } from './record.ts';
import { type ChosenRun, leftOutOf, rewriteKnown } from './update-known.ts';

interface CheckOptions extends TrainerOptions, RecordOptions, RayOptions {
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly cases?: number;
  readonly seed?: number;
  readonly corpus: boolean;
  readonly profile: boolean;
  readonly known?: string;
  readonly updateKnown?: boolean;
  readonly labels?: boolean;
  readonly rows?: boolean;
  readonly shrinkTime?: number;
  readonly strict?: boolean;
  readonly quiet?: boolean;
  readonly backend?: BackendName | 'auto';
}

export function addCheck(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('check')
    .description('put generated cases through a trainer and say what is wrong with it')
    .usage('[options] [-- trainer command...]')
    .option('--only <ids>', 'properties by id, stage or glob, separated by commas; repeatable', collect)
    .option(
      '--level <level>',
      'must (default), should (with must) or may (all), also of --only; a whole id needs none',
      levelName,
    )
    .option('--cases <n>', `cases a property (default ${DEFAULT_CASES})`, wholePositive)
    .option('--seed <n>', 'choose the cases; printed first in every run', seedNumber)
    .option(
      '--no-corpus',
      `neither run nor keep failing cases in ${CASES_FOLDER}; the last run is kept as ever`,
    )
    .option('--no-profile', 'do not measure what the trainer leaves undeclared; accept any known variant')
    .option('--strict', 'fail also on what is legal and often not meant, until it is declared')
    .option('--known <file>', 'known failures: {"id": {"reason": "..."}}')
    .option('--update-known', 'write what this run found into that file; reasons and links stay')
    .option('--rows', 'print a row for each property; of more than 12, those that hold share one a stage')
    .option('--labels', 'show what the cases of each property exercised, and what they must')
    .option('--shrink-time <seconds>', 'longest search for a smaller case', positive)
    .option(
      '--backend <name>',
      `what computes the reference at real vocabularies: auto (default), ${BACKENDS.join(', ')}`,
      backendName,
    )
    .option('--quiet', 'print failures and the final line only');
  addOutputOptions(command).option(
    '--no-annotations',
    'in GitHub Actions, neither annotate the job nor write its summary',
  );
  addRayOptions(addTrainerOptions(command))
    .addHelpText('after', EXAMPLES)
    .action(async (options: CheckOptions) => finish(await check(options, command, rest, context)));
}

const EXAMPLES = `
Examples:
  npx lossproof check -- python adapter.py
  npx lossproof check --adapter trl-grpo
  npx lossproof check --only 'mask/*,kl' --cases 500 -- python adapter.py
  npx lossproof check --seed 1836021 --only mask/prompt-is-never-trained -- python adapter.py
  npx lossproof check --html report.html --junit junit.xml -- python adapter.py

Exit code: 0 all hold, 1 one fails, errs, is thin, or a known failure is not as recorded, 2 no verdict, 130 interrupted.
Reports are written also where a run fails or is interrupted. One that cannot be written is said, and turns 0 into 2.
The last run is kept in ${LAST_RUN}, which \`npx lossproof report\` shows.`;

async function check(
  options: CheckOptions,
  command: Command,
  rest: readonly string[],
  context: Context,
): Promise<number> {
  const complaint = rayComplaint(options, command.opts());
  if (complaint !== undefined) return refuse(context, complaint);
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
  const seed = options.seed ?? anySeed();
  if (options.ray !== undefined)
    return checkOnRay(
      {
        options: { ...options, ray: options.ray },
        command,
        rest,
        plan,
        properties: chosen.properties.length,
        seed,
      },
      context,
    );
  const unusable = await useBackend(options.backend ?? 'auto');
  if (unusable !== undefined) return refuse(context, unusable);
  const record = openRecord(options, true, context);
  if (isProblem(record)) return refuse(context, record);

  say(context, `lossproof ${VERSION} · seed ${seed}`);
  sayBundled(plan, context);
  try {
    return await withSession(plan, context, (session) =>
      checkWith(session, options, context, record, {
        properties: chosen.properties,
        leftOut: chosen.leftOut,
        seed,
        known,
        catalogue: properties.map(({ id }) => id),
      }),
    );
  } finally {
    record.close();
  }
}

async function checkWith(
  session: Session,
  options: CheckOptions,
  context: Context,
  record: RunRecord,
  chosen: ChosenRun,
): Promise<number> {
  const { trainer, tokenizer, interrupts } = session;
  const measured = options.profile ? await measuredOf(session, interrupts.signal) : NOT_MEASURED;
  const supported = supportedOf(session, chosen.properties, measured.semantics);
  const words = semanticsWords(bearingOn(measured.semantics, supported));
  const width = widthOfScreen(context);
  if (words !== undefined && options.quiet !== true)
    say(context, ...wrap(`measured, not declared: ${words}`, width));
  const leftOut = leftOutOf(chosen);
  if (leftOut.length > 0 && options.quiet !== true)
    say(
      context,
      ...wrap(`known failures that this run leaves out (--only, --level): ${leftOut.join(', ')}`, width),
    );
  const { choice, loaded } = session.plan;
  const kept = keepsCases(options, session.plan);
  const replay = replayOf(choice, context, kept);
  const paint = choosePaint(context.out.isTty, context.env);
  const report = terminalReport({
    write: context.out.write,
    width,
    paint,
    replay,
    live: context.out.isTty && options.quiet !== true && !context.env.CI && context.env.TERM !== 'dumb',
    onScreen: context.out.isTty,
    quiet: options.quiet === true,
    labels: options.labels === true,
    rows: options.rows === true,
    supported: new Set(supported.map(({ id }) => id)),
    now: () => performance.now(),
  });
  const results = await run(
    {
      trainer,
      tokenizer,
      ...chosen,
      known: chosen.known.known,
      cases: options.cases ?? loaded?.config.cases ?? DEFAULT_CASES,
      measured,
      strict: options.strict === true,
      ...notRunOf(supportedOf(session, chosen.leftOut, measured.semantics)),
      replay,
      started: new Date().toISOString(),
      ...(session.semantics === undefined ? {} : { semantics: session.semantics }),
      ...(kept ? { corpus: openCorpus(resolve(context.cwd, CASES_FOLDER)) } : {}),
      ...(options.shrinkTime === undefined ? {} : { shrinkMilliseconds: options.shrinkTime * 1_000 }),
      signal: interrupts.signal,
      command: commandOf(choice),
      bundled: choice.from === 'bundled',
    },
    (event) => {
      record.emit(event);
      report(event);
    },
  );
  const backend = await chosenBackend();
  if (backend !== undefined && options.quiet !== true)
    say(context, ...wrap(`real vocabularies computed by ${backend}`, width));
  await closeKernel();
  const written = await record.finish();
  const counted = options.updateKnown
    ? rewriteKnown(results, chosen, interrupts.signal.aborted, context)
    : results;
  const code = exitCodeOf(counted, interrupts.signal.aborted);
  if (code === NO_VERDICT) {
    context.err.write('lossproof: nothing was checked; `lossproof doctor` says what the trainer lacks\n');
  }
  if (code === FAILED && record.isKept() && context.out.isTty && options.quiet !== true)
    say(context, paint.dim('npx lossproof report   shows this as a page'));
  return code === HOLDS && !written ? NO_VERDICT : code;
}

/** Of these properties, those that can run on this trainer: the others take no time. */
function supportedOf(
  { trainer, tokenizer, semantics }: Session,
  properties: readonly Property[],
  measured: Semantics,
): readonly Property[] {
  const world = worldOf(trainer, tokenizer, semantics, measured);
  return properties.filter((property) => supportOf(property, world) === undefined);
}

/** How many a lower level left out, by their own. */
function notRunOf(leftOut: readonly Property[]): Pick<RunOptions, 'notRun'> {
  if (leftOut.length === 0) return {};
  const counts = LEVELS.map((each) => [each, leftOut.filter(({ level }) => level === each).length] as const);
  return { notRun: Object.fromEntries(counts.filter(([, count]) => count > 0)) };
}

/** Failing cases are saved and run first; the run itself is remembered in any case. */
function keepsCases({ corpus }: CheckOptions, { loaded }: Plan): boolean {
  return corpus && loaded?.config.corpus !== false;
}
