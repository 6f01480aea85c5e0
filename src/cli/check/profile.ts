// `profile`: what a trainer does where trainers legally differ, beside what it declares.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Profile, profileTrainer } from '../../check/profile/profile.ts';
import { profileJson, profileLines } from '../../report/profile.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { type Context, isProblem, refuse, say, sayDocument } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { addTrainerOptions, type Invocation } from '../options.ts';
import { writeWhole } from '../outputs/written.ts';
import { widthOfScreen } from '../screen.ts';
import { type Session, sayBundled, withSession } from '../trainer/session.ts';
import { makePlan, type TrainerOptions } from './plan.ts';

interface ProfileOptions extends TrainerOptions {
  readonly json?: string;
}

export function addProfile(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('profile')
    .summary('measure the choices in which correct trainers differ')
    .description('measure the choices of a trainer in which correct trainers differ')
    .usage('[options] [-- trainer command...]')
    .option('--json <file>', 'write the profile as JSON; - for standard output, without the table');
  addTrainerOptions(tell(command, WORDS)).action(async (options: ProfileOptions) =>
    finish(await profile(options, rest, context)),
  );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof profile -- python adapter.py' },
    { command: 'npx lossproof profile --adapter trl-grpo' },
    { command: 'npx lossproof profile --json profile.json -- python adapter.py' },
    { command: 'npx lossproof profile --json - -- python adapter.py' },
  ],
  exit: {
    0: 'measured',
    1: 'a declared value differs from the measured one',
    2: 'no verdict',
    130: 'interrupted',
  },
};

/** As a file name: standard output. */
const STDOUT = '-';

async function profile(options: ProfileOptions, rest: readonly string[], context: Context): Promise<number> {
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  if (options.json !== STDOUT) sayBundled(plan, context);
  return withSession(plan, context, (session) => profileWith(session, options.json, context));
}

async function profileWith(session: Session, json: string | undefined, context: Context): Promise<number> {
  const { trainer, tokenizer, semantics, interrupts } = session;
  const measured = await profileTrainer({
    trainer,
    tokenizer,
    signal: interrupts.signal,
    ...(semantics === undefined ? {} : { semantics }),
  });
  if (interrupts.signal.aborted) return INTERRUPTED;
  if (json === STDOUT) sayDocument(context, profileJson(trainer.hello, measured));
  else {
    const paint = choosePaint(context.out.isTty, context.env);
    say(context, ...profileLines(trainer.hello, measured, { width: widthOfScreen(context), paint }));
  }
  if (json !== undefined && json !== STDOUT) {
    const file = resolve(context.cwd, json);
    const why = writeWhole(file, `${profileJson(trainer.hello, measured)}\n`);
    if (why !== undefined) return refuse(context, { problem: `${file} ${why}` });
  }
  return codeOf(measured, context);
}

function codeOf({ items, probes }: Profile, context: Context): number {
  for (const { probe, reading } of probes) {
    if (reading.state === 'failed') {
      context.err.write(`lossproof: probe ${probe.id} was not answered: ${reading.why}\n`);
    }
  }
  if (items.some(({ verdict }) => verdict === 'differs')) return FAILED;
  if (items.some(({ verdict }) => TOLD.has(verdict))) return HOLDS;
  return refuse(context, {
    problem: 'nothing could be measured; `lossproof doctor` says what the trainer lacks',
  });
}

const TOLD: ReadonlySet<string> = new Set(['agrees', 'undeclared', 'untold', 'unknown', 'conflict']);
