// `check`: every chosen property against one trainer, live on the terminal.
import { type Command, Option } from 'commander';
import { useBackend } from '../../check/kernel.ts';
import { BACKENDS } from '../../kernel/index.ts';
import { VERSION } from '../../version.ts';
import { DEFAULT_CASES } from '../config/trainer-keys.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { tell, type Words } from '../help/words.ts';
import {
  addTrainerOptions,
  backendName,
  collect,
  type Invocation,
  levelName,
  positive,
  SEED_WORDS,
  seconds,
  seedNumber,
  seedOfEnvironment,
  wholePositive,
} from '../options.ts';
import { AS_LAST_RUN, LAST_RUN } from '../outputs/last-run.ts';
import { addOutputOptions } from '../outputs/outputs.ts';
import { checkOnRay } from '../ray/check.ts';
import { addRayOptions, bytes, rayComplaint } from '../ray/options.ts';
import { CASES_FOLDER } from '../trainer/cases-folder.ts';
import { sayBundled, withSession } from '../trainer/session.ts';
import { startedAhead } from './ahead.ts';
import { type CheckOne, checkAll } from './all.ts';
import { askedOfEach } from './asked.ts';
import { checkWith } from './judging.ts';
import type { CheckOptions } from './options.ts';
import { makePlans } from './plan.ts';
import { openRecord } from './record.ts';
import { resumedFrom } from './resume.ts';
import { keptAsShard, overOtherPart, SHARDS_FOLDER, shardName } from './shard.ts';

export function addCheck(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('check')
    .summary('check a trainer with generated cases')
    .description('check a trainer with generated cases, and report what is wrong')
    .usage('[options] [-- trainer command...]')
    .option(
      '--all',
      'check every trainer and setting of the configuration; one after the other, with one report',
    )
    .option('--only <ids>', 'properties by id, stage or glob, separated by commas; repeatable', collect)
    .option(
      '--level <level>',
      'levels to run: must (default), should, may; each includes those before it; properties named in full by --only always run',
      levelName,
    )
    .option('--cases <n>', `cases per property (default ${DEFAULT_CASES})`, wholePositive)
    .option('--seed <n>', `${SEED_WORDS}; printed first in every run`, seedNumber)
    .option(
      '--no-corpus',
      `neither run nor save failing cases in ${CASES_FOLDER}; the last run is saved as always`,
    )
    .option('--no-profile', 'do not measure undeclared choices; accept any known variant')
    .option('--strict', 'also fail on legal but suspicious choices; unless they are declared')
    .option('--known <file>', 'known failures: {"id": {"reason": "..."}}')
    .option('--update-known', 'update that file with the failures of this run; reasons and links stay')
    .option('--rows', 'print one line per property; default: passing properties are grouped by stage')
    .option('--labels', 'show which labels the cases of each property had, and which they need')
    .option('--shrink-time <seconds>', 'seconds to spend on making a failing case smaller', seconds)
    .option(
      '--backend <name>',
      `where the reference is computed for large vocabularies: auto (default), ${BACKENDS.join(', ')}`,
      backendName,
    )
    .option('--quiet', 'print failures and the final line only');
  addOutputOptions(addTrainerOptions(command)).option(
    '--no-annotations',
    'do not annotate the job or write its summary in GitHub Actions',
  );
  for (const option of severalOptions())
    command.addOption(option.helpGroup('Several processes, little time:'));
  tell(addRayOptions(command), WORDS).action(async (options: CheckOptions) =>
    finish(await check(options, command, rest, context)),
  );
}

/** What a run is when one process and its time are not enough. */
function severalOptions(): readonly Option[] {
  return [
    new Option('--workers <n>', 'number of trainer processes').argParser(wholePositive),
    new Option('--gpus-per-worker <n>', 'GPUs per worker; 0.5: two workers share one').argParser(positive),
    new Option(
      '--memory-per-worker <size>',
      'memory per worker, such as 16GiB; if memory is short, fewer workers are started',
    ).argParser(bytes),
    new Option(
      '--shard <i/n>',
      `run part i of n, and save it in ${SHARDS_FOLDER} for \`lossproof merge\`; use the same --seed in each part`,
    ).argParser(shardName),
    new Option(
      '--max-time <seconds>',
      'stop after this time, including the start; the properties that find most run first; exit code 2 if some did not run',
    ).argParser(positive),
    new Option('--bail [n]', 'stop after n properties have failed').preset('1').argParser(wholePositive),
    new Option(
      '--resume [file]',
      'continue an interrupted run that had the same options (default: the last one here)',
    ),
    new Option(
      '--renew-after <requests>',
      'restart the trainer after this many requests, if it leaks memory',
    ).argParser(wholePositive),
    new Option(
      '--renew-above <GB>',
      'restart the trainer above this much memory; it loses its state',
    ).argParser(positive),
  ];
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof check -- python adapter.py' },
    { command: "npx lossproof check --only 'mask/*,kl' --cases 500 -- python adapter.py" },
    { command: 'npx lossproof check --html report.html -- python adapter.py' },
    { command: 'npx lossproof check --workers 4 --max-time 300 -- python adapter.py' },
    { command: 'npx lossproof check --adapter trl-grpo' },
    {
      command: 'npx lossproof check --seed 1836021 --only mask/prompt-is-never-trained -- python adapter.py',
    },
    {
      command: 'npx lossproof check --all --html report.html',
      does: "the configuration's trainers, a column each",
    },
    { command: 'npx lossproof check --shard 3/8 --seed 7 -- python adapter.py', does: 'then `merge`' },
    {
      command: 'npx lossproof check --ray 10.0.0.5:6379 --shards 64 --gpus-per-worker 1 -- python adapter.py',
    },
  ],
  exit: {
    0: 'all hold',
    1: 'one fails, errs or has too few cases, or a known failure changed',
    2: 'no verdict, or not all ran',
    130: 'interrupted',
  },
  notes: [
    'Reports are also written if a run fails or is interrupted. If one cannot be written, check prints why, and exits with 2 instead of 0.',
    `The last run is kept in ${LAST_RUN}, which \`npx lossproof report\` shows.`,
  ],
};

async function check(
  typed: CheckOptions,
  command: Command,
  rest: readonly string[],
  context: Context,
): Promise<number> {
  const options = timed(typed, context.begun ?? performance.now());
  const complaint = rayComplaint(options, command.opts());
  if (complaint !== undefined) return refuse(context, complaint);
  const meant = await makePlans(options, rest, context);
  if (isProblem(meant)) return refuse(context, meant);
  const properties = await context.properties();
  const asked = askedOfEach(meant.plans, options, properties, context);
  if (isProblem(asked)) return refuse(context, asked);
  const [one] = asked;
  if (options.ray !== undefined)
    return checkOnRay({ ...options, ray: options.ray }, command, rest, asked, context);
  const keeping = options.shard === undefined ? AS_LAST_RUN : keptAsShard(options.shard);
  const over =
    options.shard === undefined ? undefined : overOtherPart(options.events, options.shard, context);
  if (over !== undefined) return refuse(context, over);
  const resume = options.resume === true ? keeping.file : options.resume;
  const resumed = resume === undefined ? undefined : resumedFrom(resume, context);
  if (resumed !== undefined && isProblem(resumed)) return refuse(context, resumed);
  const seed = options.seed ?? resumed?.run.start.seed ?? seedOfEnvironment(context.env);
  const unusable = await useBackend(options.backend ?? 'auto');
  if (unusable !== undefined) return refuse(context, unusable);
  const record = openRecord(options, context, {
    keeping,
    ...(resumed === undefined ? {} : { resumed: resumed.path }),
  });
  if (isProblem(record)) return refuse(context, record);

  say(context, `lossproof ${VERSION} · seed ${seed}`);
  if (options.quiet !== true && asked.length > 1) say(context, ...meant.notes);
  const catalogue = properties.map(({ id }) => id);
  const checkOne: CheckOne = async ({ plan, ...chosen }, own, place, into) => {
    sayBundled(plan, place);
    // More than there are properties would have nothing to do.
    const others = startedAhead(plan, Math.min(chosen.workers?.count ?? 1, chosen.properties.length));
    try {
      return await withSession(plan, place, (session) =>
        checkWith(session, own, place, into, { ...chosen, seed, catalogue, resumed, others }),
      );
    } finally {
      await others.stop();
    }
  };
  try {
    return one === undefined || asked.length > 1
      ? await checkAll(asked, seed, options, context, record, checkOne)
      : await checkOne(one, options, context, record);
  } finally {
    record.close();
  }
}

/** Counted from when somebody began to wait: starting and measuring a trainer is part of that. */
function timed(options: CheckOptions, begun: number): CheckOptions {
  return options.maxTime === undefined ? options : { ...options, until: begun + options.maxTime * 1_000 };
}
