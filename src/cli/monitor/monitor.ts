// `monitor`: reads what a training run logs, once or while it runs, and says what in it cannot be right. Options are
// monitor-options.ts, rules and their settings monitor-rules.ts, following a job monitor-follow.ts, verdicts monitor-judge.ts.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { openHistory, type RuleState } from '../../monitor/history/history.ts';
import type { LogSource, Progress } from '../../monitor/read/files/log.ts';
import { PIPE_NAME, pipeSource } from '../../monitor/read/pipe.ts';
import type { SampleTokens } from '../../monitor/rule.ts';
import { sampleTokensOf, stopIdsOfConfig } from '../../monitor/samples/tokens.ts';
import { standingOf } from '../../monitor/view.ts';
import { readJson } from '../../outside/file.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import { ERASE_LINE } from '../../report/terminal.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { lettersOf } from '../../report/text/sparkline.ts';
import { shorten, wrap } from '../../report/text/visible.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import { VERSION } from '../../version.ts';
import { namedTokenizer } from '../check/plan.ts';
import { openRecord, type RunRecord } from '../check/record.ts';
import { loadConfig } from '../config/config.ts';
import { type Context, isProblem, type Problem, refuse, say, sayDocument } from '../context.ts';
import { INTERRUPTED } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { widthOfScreen } from '../screen.ts';
import { follow } from './follow.ts';
import { eventsSoFar, judgeReading, pageOf, type Reading } from './judge.ts';
import { addMonitorOptions, conflict, type Meant, type MonitorOptions, meantOf, PIPED } from './options.ts';
import { beginLine, inJson, inWords, type News } from './telling.ts';

export function addMonitor(program: Command, { context, finish }: Invocation): void {
  const command = tell(program.command('monitor'), WORDS)
    .summary('find values in training logs that cannot be right')
    .description('read the logs of a run, once or while it runs, and report values that cannot be right')
    .usage('[options] <path...>')
    .argument(
      '[path...]',
      'TensorBoard, W&B, trainer_state.json, JSON lines, CSV, printed output: files, folders or globs; - is standard input',
    );
  addMonitorOptions(command).action(async (paths: readonly string[], options: MonitorOptions) =>
    finish(await monitor(paths, options, context)),
  );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof monitor runs/' },
    { command: 'npx lossproof monitor runs/new --baseline runs/good1 --baseline runs/good2' },
    { command: 'npx lossproof monitor runs/ --follow --idle 1800; [ $? -eq 1 ] && kill $JOB' },
    { command: 'python train.py 2>&1 | npx lossproof monitor -', does: 'judges each line as it is printed' },
    { command: 'npx lossproof monitor runs/ --rollouts rollouts/ --tokenizer ./model --html run.html' },
    {
      command: 'npx lossproof monitor runs/ --set kl-spike.times=30 --series my_kl=kl --expect llm_sft_loss',
    },
  ],
  notes: [
    'The rules: `npx lossproof list --only monitor --full`. Files are only read; nothing of the run is changed.',
    'With --follow, the first rule of level must that fails ends it with 1.',
  ],
  exit: {
    0: 'every rule that applies holds',
    1: 'a rule fails',
    2: 'no verdict: nothing could be read, or no loss, reward or rollout could be judged',
    130: 'interrupted',
  },
};

async function monitor(typed: readonly string[], options: MonitorOptions, context: Context): Promise<number> {
  const named = options.config === undefined ? undefined : resolve(context.cwd, options.config);
  const loaded = await loadConfig(context, named, 'read');
  if (loaded !== undefined && isProblem(loaded)) return refuse(context, loaded);
  const meant = meantOf(typed, options, loaded);
  if (isProblem(meant)) return refuse(context, meant);
  if (meant.paths.length + meant.rollouts.length === 0)
    return refuse(context, { problem: 'name what is to be read, as in `lossproof monitor runs/`' });
  const conflicting = conflict(typed, options);
  if (conflicting !== undefined) return refuse(context, { problem: conflicting });
  // Loaded now: `--help` must not wait for readers and rules.
  const { heldTo, unusedSeries } = await import('./rules.ts');
  const { openLogs } = await import('../../monitor/files.ts');
  const { otherTask, readBaselines } = await import('./baselines.ts');
  const held = await heldTo(meant, context);
  if (isProblem(held)) return refuse(context, held);
  const folder = namedTokenizer(options, loaded, context.cwd);
  const tokens = folder === undefined ? undefined : tokensOf(folder);
  if (tokens !== undefined && isProblem(tokens)) return refuse(context, tokens);
  // Before anything is judged: a baseline that cannot be one is a mistake, not a finding.
  const baselines =
    meant.baselines.length === 0 ? undefined : await readBaselines(meant.baselines, held, tokens, context);
  if (baselines !== undefined && isProblem(baselines)) return refuse(context, baselines);
  const input = meant.paths.includes(PIPED) ? context.input?.() : undefined;
  const following = options.follow === true || input !== undefined;
  const source =
    input === undefined
      ? openLogs([...meant.paths, ...meant.rollouts], { cwd: context.cwd, follow: following })
      : pipeSource(input);
  if (isProblem(source)) return refuse(context, source);
  const news: News[] = [];
  const history = openHistory({
    ...held,
    ...(tokens === undefined ? {} : { tokens }),
    ...(baselines === undefined ? {} : { baseline: baselines.summed }),
    onBroken: (state, violation) => news.push({ state, violation }),
  });
  const print = {
    width: widthOfScreen(context),
    paint: choosePaint(context.out.isTty, context.env),
    letters: lettersOf(context.env),
  };
  const reading: Reading = {
    held,
    history,
    source,
    tokens,
    baselines,
    paths: [...meant.paths, ...meant.rollouts],
    name: input === undefined ? [...meant.paths, ...meant.rollouts].join(', ') : PIPE_NAME,
    again: againLine(meant, options),
    started: new Date(),
    print,
    telling: options.json === true ? inJson((id) => held.known[id] !== undefined) : inWords(print),
    json: options.json === true,
    quiet: options.quiet === true || options.json === true,
  };
  // What GitHub is told stands on standard output, too.
  const annotations = options.annotations && !reading.json;
  const record = openRecord({ ...options, annotations }, context, {
    instead: {
      html: async (runs) =>
        (await import('../../report/html/monitor/monitor.ts')).monitorPage(runs, pageOf(reading)),
    },
  });
  if (isProblem(record)) return refuse(context, record);
  if (reading.json) sayDocument(context, beginLine());
  const stopping = watchStops(source, following, context);
  try {
    const interrupted = following
      ? await followed(reading, options, record, { news, signal: stopping.signal }, context)
      : await readOnce(reading, stopping.signal, context);
    const other = baselines === undefined ? undefined : await otherTask(history.runs(), baselines);
    // Where a rule has ended a job that is lost, that stands.
    const lost = following && standingOf(history).broken.some((state) => ends(reading, options, state));
    if (other !== undefined && !lost) return refuse(context, other);
    const names = history.runs().flatMap(({ series }) => series.map(({ name }) => name));
    // A job that is followed has had them told as they came.
    const unread = reading.json && !following ? history.complaints() : [];
    const told = {
      notes: [...unread, ...unusedSeries(meant, names), ...(other === undefined ? [] : [other.problem])],
      news: () => news.splice(0),
    };
    return await judgeReading(reading, interrupted, told, record, context);
  } finally {
    stopping.dispose();
    source.close();
    record.close();
  }
}

/** True: it was interrupted, so that the end of what was read is not the end of the log. */
async function readOnce(
  { source, history, quiet }: Reading,
  signal: AbortSignal,
  context: Context,
): Promise<boolean> {
  const { err } = context;
  const live = err.isTty && context.env.TERM !== 'dumb' && !quiet;
  let drawn = false;
  await source.readAll(history, (progress) => {
    if (!live) return;
    drawn = true;
    err.write(ERASE_LINE + shorten(progressLine(progress, history.points()), err.columns - 1));
  });
  if (drawn) err.write(ERASE_LINE);
  if (!signal.aborted) history.end();
  return signal.aborted;
}

interface Live {
  readonly news: News[];
  readonly signal: AbortSignal;
}

/** True: it was interrupted. */
async function followed(
  reading: Reading,
  options: MonitorOptions,
  record: RunRecord,
  { news, signal }: Live,
  context: Context,
): Promise<boolean> {
  const { history, source, print, quiet, name, paths, telling } = reading;
  const live = context.out.isTty && context.env.TERM !== 'dumb' && !context.env.CI && !quiet;
  if (!quiet)
    say(context, ...wrap(`lossproof ${VERSION} · following ${name}`, print.width).map(print.paint.bold));
  const missing = paths.filter(
    (path) => path !== PIPED && !/[*?{]/.test(path) && !existsSync(resolve(context.cwd, path)),
  );
  for (const path of missing)
    if (!reading.json) say(context, ...wrap(`! ${path} is not there yet; it is waited for`, print.width));
  const ending = await follow({
    source,
    history,
    screen: context.out,
    live,
    quiet,
    print,
    interval: options.interval,
    idle: options.idle,
    signal,
    paths: name,
    ends: ({ state }) => ends(reading, options, state),
    news: () => news.splice(0),
    telling,
    broken: async () => record.interim(eventsSoFar(reading)),
  });
  // A job that goes on has not ended: rules about whole logs are not asked.
  if (ending === 'ended' || ending === 'idle' || ending === 'stopped') history.end();
  if (!quiet) say(context, '');
  return ending === 'interrupted';
}

// --- helpers ---

/** A rule whose failure ends following. */
function ends({ held }: Reading, options: MonitorOptions, { rule }: RuleState): boolean {
  return rule.level === 'must' && options.keepGoing !== true && held.known[rule.id] === undefined;
}

/** Ctrl-C ends the reading and shows what is known; the second leaves at once. A SIGTERM, while following, is the end of the job. */
function watchStops(
  source: LogSource,
  following: boolean,
  context: Context,
): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const stop = (reason: 'interrupted' | 'stopped'): void => {
    if (controller.signal.aborted) context.exitNow(INTERRUPTED);
    controller.abort(reason);
    // What a job wrote before it was ended is still read.
    if (reason === 'interrupted') source.close();
  };
  const disposers = [
    context.onInterrupt(() => stop('interrupted')),
    ...(following ? [context.onTerminate?.(() => stop('stopped'))] : []),
  ];
  return {
    signal: controller.signal,
    dispose: () => {
      for (const dispose of disposers) dispose?.();
    },
  };
}

function tokensOf(folder: string): SampleTokens | Problem {
  const loaded = loadTokenizer(folder);
  if (isProblem(loaded)) return loaded;
  return sampleTokensOf(loaded.tokenizer, { stopIds: generationStops(folder) });
}

/** What generation stops at, where the folder says so; a file that cannot be read says nothing. */
function generationStops(folder: string): readonly number[] {
  const file = join(folder, 'generation_config.json');
  const read = readJson(file);
  return 'ok' in read ? stopIdsOfConfig(read.ok) : [];
}

function progressLine({ read, bytes, path }: Progress, points: number): string {
  const share = bytes === 0 ? 1 : read / bytes;
  return `reading ${(100 * share).toFixed(0)} % of ${sizeOf(bytes)} · ${points.toLocaleString('en')} points · ${path}`;
}

function sizeOf(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** at).toFixed(at > 2 ? 1 : 0)} ${units[at] ?? ''}`;
}

/** The same logs, judged again as they are then. */
function againLine(meant: Meant, options: MonitorOptions): string {
  const words = [
    ...meant.paths,
    ...meant.rollouts.flatMap((path) => ['--rollouts', path]),
    ...meant.baselines.flatMap((path) => ['--baseline', path]),
    ...(options.preset === undefined ? [] : ['--preset', options.preset]),
    ...(['set', 'series', 'fact'] as const).flatMap((name) =>
      (options[name] ?? []).flatMap((value) => [`--${name}`, value]),
    ),
    ...(options.expect === undefined ? [] : ['--expect', options.expect.join(',')]),
    ...(options.only === undefined ? [] : ['--only', options.only.join(',')]),
    ...(options.level === undefined ? [] : ['--level', options.level]),
    ...(options.tokenizer === undefined ? [] : ['--tokenizer', options.tokenizer]),
  ];
  return ['npx lossproof monitor', ...words.map(quoted)].join(' ');
}
