// `trace`: runs a training script as it is, and says of its first steps which tokens were trained, towards which target,
// with which weight, and what of that is wrong. Judging is trace-judge.ts; the script's own process, trace-script.ts.
import type { Command } from 'commander';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { wrap } from '../../report/text/visible.ts';
import { VERSION } from '../../version.ts';
import { openRecord } from '../check/record.ts';
import { loadConfig } from '../config/config.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { widthOfScreen } from '../screen.ts';
import { joinCommand } from '../trainer/words.ts';
import { dropIfEmpty, hasTrace, makeTraceFolder, readTraceFolder } from './folder.ts';
import { chosenForTrace, judgeTrace, type TraceRun } from './judge.ts';
import { addTraceOptions, type TraceOptions, toldOf } from './options.ts';
import { endWords, runScript, startProblem } from './script.ts';
import { shrinkHint, shrinkTrace } from './shrink/shrink.ts';

export function addTrace(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('trace')
    .summary('run a training script, and show which tokens it trains')
    .description('run an unmodified training script, and show which tokens it trains')
    .usage('[options] -- command...');
  tell(addTraceOptions(command), WORDS).action(async (options: TraceOptions) =>
    finish(await trace(options, rest, context)),
  );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof trace -- python train.py' },
    { command: 'npx lossproof trace --dataset data.jsonl --html trace.html -- python train.py' },
    { command: 'npx lossproof trace -- torchrun --nproc-per-node 2 train.py' },
    { command: 'npx lossproof trace --from .lossproof/trace --rows 8 --full' },
    { command: 'npx lossproof trace --dataset data.jsonl --shrink 20 -- python train.py --data data.jsonl' },
  ],
  notes: ['The verdict is printed to stderr; with --from, to stdout.'],
  exit: {
    0: 'masks, weights or sampled tokens were judged and hold',
    1: 'a property fails, however the script ended',
    2: 'no verdict, and what to add',
    130: 'interrupted',
  },
};

async function trace(options: TraceOptions, command: readonly string[], context: Context): Promise<number> {
  const { from } = options;
  if (from !== undefined && command.length > 0)
    return refuse(context, {
      problem: `--from judges ${from} and runs nothing; leave out the command after --`,
    });
  if (from === undefined && command.length === 0)
    return refuse(context, {
      problem: 'write the command after --, as in `lossproof trace -- python train.py`',
    });
  if (options.shrink !== undefined && (from !== undefined || options.dataset === undefined))
    return refuse(context, {
      problem:
        from === undefined
          ? '--shrink makes the data set smaller: name it with --dataset'
          : '--shrink runs the script again, and --from runs nothing',
    });
  const loaded = await loadConfig(context, undefined, from === undefined ? 'start' : 'read');
  if (loaded !== undefined && isProblem(loaded)) return refuse(context, loaded);
  const told = toldOf(options, loaded, context);
  if (isProblem(told)) return refuse(context, told);
  const chosen = await chosenForTrace(options, context);
  if (isProblem(chosen)) return refuse(context, chosen);
  // A script's stdout is its own, as with any program that runs another.
  const screen = from === undefined ? { ...context, out: context.err } : context;
  const run: TraceRun = { options, told, chosen, screen, page: {} };
  const record = openRecord(options, context, {
    instead: {
      html: async (runs) => {
        const { tracePage } = await import('../../report/html/trace/trace.ts');
        const { ledger, unseen = [] } = run.page;
        return ledger === undefined
          ? (await import('../../report/html/run/report.ts')).htmlReport(runs)
          : tracePage(runs, { ledger, unseen });
      },
    },
  });
  if (isProblem(record)) return refuse(context, record);
  try {
    return from === undefined
      ? await traceScript(command, run, record, context)
      : await judgeFolder(from, run, record, context);
  } finally {
    record.close();
  }
}

type Record = Exclude<ReturnType<typeof openRecord>, { readonly problem: string }>;

async function judgeFolder(from: string, run: TraceRun, record: Record, context: Context): Promise<number> {
  const files = readTraceFolder(from, context);
  if (isProblem(files)) return refuse(context, files);
  return judgeTrace({ files, command: undefined, end: undefined }, run, record);
}

async function traceScript(
  command: readonly string[],
  run: TraceRun,
  record: Record,
  context: Context,
): Promise<number> {
  const { options, screen } = run;
  const folder = makeTraceFolder(options.out, context, new Date());
  if (typeof folder !== 'string') return refuse(context, folder);
  const steps = options.keepGoing === true ? 0 : options.steps;
  const paint = choosePaint(screen.out.isTty, context.env);
  if (options.quiet !== true)
    say(
      screen,
      ...wrap(
        `lossproof ${VERSION} · tracing ${joinCommand(command)} · ${steps === 0 ? 'to its end' : plural(steps, 'step')}`,
        widthOfScreen(screen),
      ).map(paint.bold),
    );
  const begun = performance.now();
  const end = await runScript(
    {
      command,
      folder,
      steps,
      mode: options.mode,
      compiled: options.keepCompiled,
      slopes: options.slopes,
    },
    context,
  );
  const { spawnError } = end.exit;
  if (spawnError !== undefined) {
    dropIfEmpty(folder, context);
    return refuse(context, { problem: startProblem(command, spawnError, context.cwd) });
  }
  if (!hasTrace(folder, context)) {
    dropIfEmpty(folder, context);
    const ended = `no verdict: ${joinCommand(command)} ended (${endWords(end.exit)}), and no Python process of it was seen`;
    return refuse(context, { problem: `${ended}. ${NO_PYTHON}` });
  }
  const files = readTraceFolder(folder, context);
  if (isProblem(files)) return refuse(context, files);
  const seconds = (performance.now() - begun) / MILLISECONDS;
  const code = await judgeTrace({ files, command, end }, run, record);
  const { ledger, results = [] } = run.page;
  if (options.quiet !== true) say(screen, ...shrinkHint(options, results).map(paint.dim));
  if (options.shrink !== undefined && ledger !== undefined && !end.interrupted)
    await shrinkTrace({ command, folder, seconds, run, results, ledger }, context);
  return code;
}

const MILLISECONDS = 1000;
const NO_PYTHON =
  'Python is told to look on through its environment: a container, another machine, sudo, `python -I` or `python -E` take that away. Trace the command that trains, where it trains.';
