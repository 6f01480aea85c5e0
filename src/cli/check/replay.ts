// `replay`: one saved case again, against the trainer that failed it or another one.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { NOT_TRIED, type PropertyResult } from '../../check/events.ts';
import type { Property } from '../../check/property.ts';
import { factsOf, worldOf } from '../../check/run.ts';
import { openCorpus } from '../../check/saved/corpus.ts';
import { outdated } from '../../check/saved/outdated.ts';
import { implausible } from '../../check/saved/plausible.ts';
import { readSavedCase, type SavedCase } from '../../check/saved/saved-case.ts';
import { type CaseOutcome, runCase } from '../../check/subject.ts';
import { supportOf } from '../../check/support.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { failureLines } from '../../report/failure/failure.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { VERSION } from '../../version.ts';
import { refusedCommand } from '../consent/saved-command.ts';
import { type Context, isProblem, type Problem, refuse, say, whyOf } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { addTrainerOptions, type Invocation } from '../options.ts';
import { type Outputs, openOutputs } from '../outputs/outputs.ts';
import { widthOfScreen } from '../screen.ts';
import { CASES_FOLDER } from '../trainer/cases-folder.ts';
import { measuredOf } from '../trainer/open.ts';
import { replayOf, type Session, sayBundled, withSession } from '../trainer/session.ts';
import { bundledExample, commandOf, type TrainerChoice } from '../trainer/trainer.ts';
import { splitCommand } from '../trainer/words.ts';
import { makePlan, type Plan, type TrainerOptions } from './plan.ts';
import { isSeveral } from './several.ts';

export function addReplay(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('replay')
    .description('run one saved case again')
    .usage('[options] <id or file> [-- trainer command...]')
    .argument('<case>', `id printed at the end of a failure, or a file of ${CASES_FOLDER}`);
  addTrainerOptions(tell(command, WORDS))
    .option('--findings <file>', 'what still fails and what to type next, as JSON for programs')
    .option('--trust', 'run the command saved in the case, and remember this consent for the folder')
    .action(async (name: string, options: ReplayOptions) =>
      finish(await replay(name, options, rest, context)),
    );
}

interface ReplayOptions extends TrainerOptions {
  readonly findings?: string;
  readonly trust?: boolean;
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof replay 7f3a9c' },
    { command: `npx lossproof replay ${CASES_FOLDER}/7f3a9c.json -- python adapter.py` },
  ],
  notes: [
    'Unless you name a trainer, it runs the one that the case was saved with.',
    'It first shows the command of the case and asks for confirmation, unless you typed or configured the command in this folder before. --trust confirms it.',
  ],
  exit: { 0: 'the case holds now', 1: 'it still fails', 2: 'it could not be run', 130: 'interrupted' },
};

async function replay(
  name: string,
  options: ReplayOptions,
  rest: readonly string[],
  context: Context,
): Promise<number> {
  const { findings } = options;
  const outputs = openOutputs(findings === undefined ? {} : { findings }, context);
  if (isProblem(outputs)) return refuse(context, outputs);
  if (outputs.onStandardOutput)
    return refuse(context, { problem: 'standard output has the failure; name a file instead of -' });
  const found = findCase(name, [options.trainer ?? []].flat(), context);
  if (isProblem(found)) return refuse(context, found);
  const { saved } = found;
  const remembered = rememberedChoice(saved, context);
  if (remembered !== undefined && isProblem(remembered)) return refuse(context, remembered);
  const planned = await planFor(saved, remembered, options, rest, context);
  if (isProblem(planned)) return refuse(context, planned);
  if (planned.choice === remembered && remembered.from !== 'bundled') {
    const asked = { from: name, trust: options.trust === true };
    const refused = await refusedCommand(saved.command, asked, context);
    if (refused !== undefined) return refuse(context, refused);
  }
  const property = (await context.properties()).find(({ id }) => id === saved.property);
  if (property === undefined) {
    return refuse(context, {
      problem: `! no longer valid: case ${saved.id} is of ${saved.property}, which this version does not have`,
    });
  }
  sayBundled(planned, context);
  return withSession(planned, context, (session) =>
    replayWith(session, { saved, property, outputs }, context),
  );
}

/** The trainer that is named; else, of several, the one that the case is of; else the command that it was saved with. */
async function planFor(
  saved: SavedCase,
  remembered: TrainerChoice | undefined,
  options: TrainerOptions,
  rest: readonly string[],
  context: Context,
): Promise<Plan | Problem> {
  const named = options.adapter !== undefined || options.bundled === true || rest.length > 0;
  const own = named || saved.name === undefined ? {} : { trainer: saved.name };
  const plan = await makePlan({ ...own, ...options }, rest, context, remembered);
  if (isProblem(plan)) {
    if (!isSeveral(plan) || options.trainer !== undefined || remembered?.kind !== 'command') return plan;
    const typed = await makePlan(options, remembered.command, context);
    return isProblem(typed) ? typed : { ...typed, choice: remembered };
  }
  return plan.name === undefined ? { ...plan, choice: choiceOf(remembered, plan.choice) } : plan;
}

interface Replayed {
  readonly saved: SavedCase;
  readonly property: Property;
  readonly outputs: Outputs;
}

async function replayWith(
  session: Session,
  { saved, property, outputs }: Replayed,
  context: Context,
): Promise<number> {
  const { trainer, tokenizer, plan } = session;
  // As in `check`, so that a case that failed what was measured fails it again.
  const measured = await measuredOf(session, session.interrupts.signal);
  const world = worldOf(trainer, tokenizer, session.semantics, measured.semantics);
  const begun = performance.now();
  /** The case as a run of its own; the code is `code`, unless the document cannot be written. */
  const write = async (code: number, results: readonly PropertyResult[], noVerdict?: string) => {
    const start = {
      type: 'run-start',
      seed: saved.seed,
      cases: 1,
      hello: trainer.hello,
      command: commandOf(plan.choice),
      properties: [factsOf(property)],
      version: VERSION,
      replay: replayOf(plan, context, true),
    } as const;
    const spent = { interrupted: false, milliseconds: performance.now() - begun };
    const end = { type: 'run-end', ...spent, ...(noVerdict === undefined ? {} : { noVerdict }) } as const;
    const problems = await outputs.write([{ start, results, end }]);
    for (const problem of problems) refuse(context, { problem });
    return problems.length > 0 && code === HOLDS ? NO_VERDICT : code;
  };
  const invalid = (why: string): Promise<number> => {
    say(context, `! no longer valid  ${saved.id}  ${property.id}: ${why}`);
    return write(NO_VERDICT, [], `the case is no longer valid: ${why}`);
  };
  const lack =
    supportOf(property, world) ??
    outdated(saved.given, world, property) ??
    implausible(world, property)(saved.given);
  if (lack !== undefined) return invalid(lack);
  const lines: string[] = [];
  let outcome: CaseOutcome;
  try {
    outcome = await runCase(property, trainer, world, saved.given, lines);
  } catch (error) {
    return invalid(`this version generates other cases (${whyOf(error)})`);
  }
  switch (outcome.kind) {
    case 'stopped':
      say(context, 'interrupted: the case was not judged');
      return INTERRUPTED;
    case 'refused':
      return invalid(outcome.why);
    case 'holds':
      say(context, `+ fixed  ${saved.id}  ${property.id}: it holds now; the next check forgets it`);
      return write(HOLDS, [{ ...ofProperty(property), verdict: 'pass' }]);
    default: {
      const result = resultOf(property, saved, outcome);
      const paint = choosePaint(context.out.isTty, context.env);
      const replay = replayOf(plan, context, true);
      const block = { width: widthOfScreen(context), paint, replay, allWays: true };
      say(context, `✗ still fails  ${saved.id}`, '', ...failureLines(result, block));
      return write(FAILED, [result]);
    }
  }
}

const ofProperty = ({ id, title, level }: Property) => ({ id, title, level, ...NOT_TRIED, cases: 1 });

function resultOf(
  property: Property,
  saved: SavedCase,
  outcome: Extract<CaseOutcome, { kind: 'fails' | 'error' }>,
): PropertyResult {
  return {
    ...ofProperty(property),
    verdict: outcome.kind === 'fails' ? 'fail' : 'error',
    failure: {
      caseId: saved.id,
      given: saved.given,
      casesToFail: 1,
      shrinks: 0,
      confirmed: 'not re-run',
      seed: saved.seed,
      ...(saved.path === undefined ? {} : { path: saved.path }),
      lines: saved.lines,
      saved: true,
      ...(outcome.kind === 'fails' ? { finding: outcome.finding } : { trainerFailure: outcome.failure }),
    },
  };
}

/** A file, or an id, or the beginning of one; of these trainers, where some are named. */
function findCase(
  name: string,
  trainers: readonly string[],
  context: Context,
): { readonly saved: SavedCase } | Problem {
  const file = resolve(context.cwd, name);
  if (existsSync(file)) {
    const read = readSavedCase(file);
    if ('complaint' in read)
      return { problem: `${name} ${read.complaint}; those in ${CASES_FOLDER} end in .json` };
    return { saved: read.ok };
  }
  const saved = savedIn(resolve(context.cwd, CASES_FOLDER));
  const alike = saved.filter(({ id }) => id.startsWith(name));
  const ofThem = alike.filter((each) => trainers.some((wanted) => each.name === wanted));
  const fitting = ofThem.length === 0 ? alike : ofThem;
  if (fitting.length === 1 && fitting[0] !== undefined) return { saved: fitting[0] };
  if (fitting.length > 1) return { problem: `${name} may be ${fitting.map(wordsOf).join(' or ')}` };
  if (saved.length === 0)
    return {
      problem: `no case ${name}: nothing is saved in ${CASES_FOLDER}; \`lossproof check\` saves what fails`,
    };
  const ids = saved.map(({ id }) => id);
  const near = nearestName(name, ids);
  return {
    problem: `no case ${name} in ${CASES_FOLDER}, ${near === undefined ? `there are ${ids.join(', ')}` : `did you mean "${near}"?`}`,
  };
}

const savedIn = (folder: string): readonly SavedCase[] =>
  foldersOf(folder).flatMap((each) => openCorpus(each).saved());

/** Of the one trainer, and of each of several in a folder of its own. */
function foldersOf(folder: string): readonly string[] {
  try {
    const inside = readdirSync(folder, { withFileTypes: true });
    return [folder, ...inside.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))];
  } catch {
    return [];
  }
}

function wordsOf({ id, name }: SavedCase): string {
  return name === undefined ? id : `${id} of --trainer ${quoted(name)}`;
}

/** By the command that the case was saved with; undefined where there is none: it was a trainer in a process like this one. */
function rememberedChoice(saved: SavedCase, context: Context): TrainerChoice | Problem | undefined {
  const command = typeof saved.command === 'string' ? saved.command : '';
  if (command === '') return undefined;
  const words = splitCommand(command);
  if (isProblem(words)) return { problem: `case ${saved.id}: ${words.problem}; name the trainer after --` };
  const example = bundledExample(undefined, context);
  return commandOf(example) === command
    ? example
    : { kind: 'command', command: words, cwd: context.cwd, from: 'typed' };
}

/** What is typed; then the command of the case, in its folder where the configuration names it too. */
function choiceOf(remembered: TrainerChoice | undefined, choice: TrainerChoice): TrainerChoice {
  const named = choice.from === 'typed' || choice.from === 'bundled';
  if (named || remembered === undefined) return choice;
  return commandOf(remembered) === commandOf(choice) ? choice : remembered;
}
