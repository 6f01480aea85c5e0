// `demo`: a tour. Each bundled faulty trainer has one bug that really happened; the properties are run against it
// until one catches it, and the smallest case is shown.
import type { Command } from 'commander';
import type { PropertyResult } from '../../check/events.ts';
import type { Property } from '../../check/property.ts';
import { run } from '../../check/run.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { failureLines } from '../../report/failure/failure.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { wrap } from '../../report/text/visible.ts';
import { PYTHON_FOLDER } from '../../version.ts';
import type { Plan } from '../check/plan.ts';
import { selectProperties, splitNames } from '../check/select.ts';
import { type Context, isProblem, type Problem, refuse, say } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { type Invocation, SEED_WORDS, seedNumber, seedOfEnvironment, wholePositive } from '../options.ts';
import { widthOfScreen } from '../screen.ts';
import { findOwnPython } from '../trainer/python.ts';
import { replayOf, type Session, withSession } from '../trainer/session.ts';
import { commandOf, type TrainerChoice } from '../trainer/trainer.ts';
import { FAULTY_MODULE, type FaultyTrainer, faultyTrainers } from './catalogue.ts';

interface DemoOptions {
  readonly seed?: number;
  readonly cases?: number;
  readonly python?: string;
}

/** As `check` has it. */
const DEFAULT_CASES = 100;

export function addDemo(program: Command, { context, finish }: Invocation): void {
  tell(program.command('demo'), WORDS)
    .summary('show six trainers with real bugs, and how they are found')
    .description('run six trainers with one real bug each, and show how each is found')
    .usage('[options] [name]')
    .argument('[name]', 'one of them only')
    .option('--seed <n>', SEED_WORDS, seedNumber)
    .option('--cases <n>', `cases per property (default ${DEFAULT_CASES})`, wholePositive)
    .option('--python <path>', 'the Python that runs them')
    .action(async (name: string | undefined, options: DemoOptions) =>
      finish(await demo(name, options, context)),
    );
}

const WORDS: Words = {
  examples: [{ command: 'npx lossproof demo' }, { command: 'npx lossproof demo count-as-position' }],
  exit: {
    0: 'every bug is found',
    1: 'one is not',
    2: 'the trainers could not be started',
    130: 'interrupted',
  },
};

async function demo(name: string | undefined, options: DemoOptions, context: Context): Promise<number> {
  const python = findOwnPython(options.python, context);
  const all = await faultyTrainers(python);
  if (isProblem(all)) return refuse(context, all);
  const chosen = chooseFaulty(all, name);
  if (isProblem(chosen)) return refuse(context, chosen);
  const seed = options.seed ?? seedOfEnvironment(context.env);
  say(context, `seed ${seed} · ${chosen.length} trainer${chosen.length === 1 ? '' : 's'}, each with one bug`);
  let caught = 0;
  for (const faulty of chosen) {
    const command = [python, '-m', FAULTY_MODULE, faulty.name];
    const choice: TrainerChoice = { kind: 'command', command, cwd: PYTHON_FOLDER, from: 'bundled' };
    const code = await withSession(planOf(choice), context, (session) =>
      showOne(faulty, { session, seed, cases: options.cases ?? DEFAULT_CASES, context }),
    );
    if (code === INTERRUPTED) return INTERRUPTED;
    if (code === HOLDS) caught++;
    else if (code !== FAILED) return code;
  }
  say(context, '', `${caught} of ${chosen.length} caught · seed ${seed}`);
  return caught === chosen.length ? HOLDS : FAILED;
}

function planOf(choice: TrainerChoice): Plan {
  return { options: {}, loaded: undefined, choice, tokenizer: undefined };
}

function chooseFaulty(
  all: readonly FaultyTrainer[],
  name: string | undefined,
): readonly FaultyTrainer[] | Problem {
  if (name === undefined) return all;
  const one = all.find((faulty) => faulty.name === name);
  if (one !== undefined) return [one];
  const names = all.map((faulty) => faulty.name);
  const near = nearestName(name, names);
  return {
    problem: `no bundled trainer is called "${name}", ${near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"?`}`,
  };
}

interface Tour {
  readonly session: Session;
  readonly seed: number;
  readonly cases: number;
  readonly context: Context;
}

/** HOLDS when it is caught: the demo's promise held. */
async function showOne(faulty: FaultyTrainer, tour: Tour): Promise<number> {
  const { session, context } = tour;
  const paint = choosePaint(context.out.isTty, context.env);
  const width = widthOfScreen(context);
  say(
    context,
    '',
    paint.bold(`${faulty.name}: ${faulty.title}`),
    ...wrap(oneParagraph(faulty.story), width),
    '',
  );
  const caught = await firstFailure(await inOrder(faulty, context), tour);
  if (session.interrupts.signal.aborted) {
    say(context, `interrupted · seed ${tour.seed}`);
    return INTERRUPTED;
  }
  if (caught?.failure === undefined) {
    say(context, paint.orange(`not caught in ${tour.cases} cases per property`));
    return FAILED;
  }
  const again = `npx lossproof demo ${faulty.name} --seed ${tour.seed}`;
  const replay = { ...replayOf(session.plan, context, false), again };
  say(context, ...failureLines(caught, { width, paint, replay }));
  const { casesToFail, shrinks } = caught.failure;
  say(
    context,
    '',
    paint.blue(`✓ caught by ${caught.id} at case ${casesToFail}, made small in ${shrinks} steps`),
  );
  return HOLDS;
}

/** The properties that are said to catch it, then all others. */
async function inOrder(faulty: FaultyTrainer, context: Context): Promise<readonly Property[]> {
  const all = await context.properties();
  const hinted = selectProperties(all, splitNames([faulty.property_hint]), 'may');
  const first = isProblem(hinted) ? [] : hinted;
  return [...first, ...all.filter((property) => !first.includes(property))];
}

async function firstFailure(
  properties: readonly Property[],
  tour: Tour,
): Promise<PropertyResult | undefined> {
  const { session, seed, cases } = tour;
  for (const property of properties) {
    if (session.interrupts.signal.aborted) return undefined;
    const [result] = await run(
      {
        trainer: session.trainer,
        tokenizer: session.tokenizer,
        properties: [property],
        seed,
        cases,
        signal: session.interrupts.signal,
        command: commandOf(session.plan.choice),
      },
      () => {},
    );
    // Only a finding is a catch: a bundled trainer that dies is broken, not faulty in the way that it tells.
    if (result?.verdict === 'fail') return result;
  }
  return undefined;
}

function oneParagraph(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
