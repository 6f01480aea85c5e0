// `check --ray`: the shards of one run on a Ray cluster, followed live, and what they have written as one run at the end.
import { pace } from '../../bounds.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { shorten } from '../../report/text/visible.ts';
import { SHARDS_FOLDER } from '../check/shard.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { liveBlock } from '../live-block.ts';
import { widthOfScreen } from '../screen.ts';
import { joinCommand } from '../trainer/words.ts';
import { type Driver, type Job, type Said, startDriver } from './driver.ts';
import { openShardFiles, type ShardFiles } from './shard-files.ts';
import { type Shards, shardsOf } from './shards.ts';

export interface OnRay {
  readonly job: Job;
  /** Runs the driver. */
  readonly python: string;
  readonly quiet: boolean;
  /** One run of all files: prints it, writes what was asked for, and gives the exit code. */
  readonly finish: (files: readonly string[]) => Promise<number>;
}

interface Began {
  readonly shards: Shards;
  readonly files: ShardFiles;
  readonly many: number;
}

export async function runOnRay(asked: OnRay, context: Context): Promise<number> {
  const { job, quiet } = asked;
  const live = context.out.isTty && !quiet && !context.env.CI && context.env.TERM !== 'dumb';
  const block = live ? liveBlock(context.out) : undefined;
  const tell = (lines: readonly string[]): void => {
    if (block === undefined) say(context, ...lines);
    else block.say(lines);
  };
  const complain = (lines: readonly string[]): void => {
    block?.clear();
    for (const [at, line] of lines.entries())
      context.err.write(at === 0 ? `lossproof: ${line}\n` : `${line}\n`);
  };
  let began: Began | undefined;
  let problem: string | undefined;

  function begin(cluster: Extract<Said, { cluster: unknown }>['cluster']): void {
    const files = openShardFiles(context.cwd, cluster.shards);
    if (isProblem(files)) {
      problem = files.problem;
      void driver.cancel();
      return;
    }
    began = { files, many: cluster.shards, shards: shardsOf(cluster, job.most, () => performance.now()) };
    if (quiet) return;
    const gpus = cluster.gpus === 0 ? '' : `, ${plural(cluster.gpus, 'GPU')}`;
    const room = `${plural(cluster.nodes, 'node')}, ${plural(cluster.cpus, 'CPU')}${gpus}`;
    const fewer = job.shards !== null && job.shards > cluster.shards ? ': there are no more to deal out' : '';
    const work = `${plural(job.most, 'property', 'properties')} in ${plural(cluster.shards, 'shard')}${fewer}`;
    tell([
      `Ray ${cluster.ray} at ${job.address} · ${room} · ${work}`,
      ...(cluster.dashboard === null ? [] : [`dashboard: ${link(cluster.dashboard)}`]),
    ]);
  }

  function hear(said: Said): void {
    if ('problem' in said) problem = said.problem;
    else if ('cluster' in said) begin(said.cluster);
    else if (began !== undefined) {
      if ('started' in said) began.files.begin(said.shard);
      if ('line' in said) began.files.append(said.shard, said.line);
      const { lines, complaints, enough } = began.shards.hear(said);
      if (enough === true) driver.enough();
      if (complaints.length > 0) complain(complaints);
      if (lines.length > 0 && !quiet) tell(lines);
    }
  }

  const driver: Driver = startDriver(asked.python, context.cwd, context.env, job, hear);
  const stop = cancelling(driver, context, () => block?.clear());
  const paint = choosePaint(context.out.isTty, context.env);
  const timer = setInterval(() => {
    if (began !== undefined && block !== undefined)
      block.draw([paint.dim(shorten(began.shards.progress(), widthOfScreen(context)))]);
  }, DRAW_MILLISECONDS);
  const exit = await driver.exited;
  clearInterval(timer);
  stop.dispose();
  block?.clear();
  began?.files.close();

  const failed = problem ?? began?.files.fault();
  if (failed === undefined && began !== undefined && began.shards.missing().length === 0) {
    const { files, many } = began;
    return asked.finish(Array.from({ length: many }, (_, at) => files.name(at + 1)));
  }
  if (failed !== undefined) refuse(context, { problem: failed });
  else if (exit.spawnError !== undefined)
    refuse(context, {
      problem: `${asked.python} cannot be started (${exit.spawnError}); name a Python that has ray by --python`,
    });
  else if (!stop.stopped() && exit.exitCode !== 0)
    complain([
      `what talks to Ray ended (${exit.signal ?? `exit code ${exit.exitCode}`})`,
      ...lastLines(driver),
    ]);
  if (began !== undefined) tellKept(began, job, context);
  return stop.stopped() ? INTERRUPTED : NO_VERDICT;
}

const DRAW_MILLISECONDS = pace(200);
/** Presses that are closer together than a hand can make them. */
const ONE_PRESS_MILLISECONDS = pace(300);
/** Of what Ray said before it ended. */
const LAST_LINES = 12;

function lastLines(driver: Driver): string[] {
  return driver
    .stderrTail()
    .trimEnd()
    .split('\n')
    .slice(-LAST_LINES)
    .map((line) => `  ${line}`);
}

/** Ctrl-C, or the end of a job: every shard ends. A second one leaves at once, and Ray ends them. */
function cancelling(
  driver: Driver,
  context: Context,
  clear: () => void,
): { stopped(): boolean; dispose(): void } {
  let stopped = false;
  let last = Number.NEGATIVE_INFINITY;
  const heard = (what: string): void => {
    const now = performance.now();
    // npx passes on what the terminal has sent us already: that is one Ctrl-C.
    if (now - last < ONE_PRESS_MILLISECONDS) return;
    last = now;
    if (stopped) {
      context.exitNow(INTERRUPTED);
      return;
    }
    stopped = true;
    clear();
    context.err.write(
      `${context.err.isTty ? '\r' : '\n'}${what}: ending all shards; once more stops at once\n`,
    );
    void driver.cancel();
  };
  const disposals = [
    context.onInterrupt(() => heard('interrupted')),
    context.onTerminate?.((signal) => heard(`interrupted by ${signal}`)),
  ];
  return {
    stopped: () => stopped,
    dispose() {
      for (const dispose of disposals) dispose?.();
    },
  };
}

/** What is there all the same, and what to type for the rest. */
function tellKept({ shards, many }: Began, job: Job, context: Context): void {
  const missing = shards.missing();
  const [first] = missing;
  if (first === undefined) return;
  const { err } = context;
  const kept = shards.done() === 0 ? '' : `, kept in ${SHARDS_FOLDER}`;
  err.write(`no verdict: ${shards.done()} of ${plural(many, 'shard')} done${kept}\n`);
  if (kept === '') return;
  const adapter = job.adapter.length === 0 ? '' : ` -- ${joinCommand(job.adapter)}`;
  const words = joinCommand([...job.options, '--shard', `${first}/${many}`]);
  err.write(`  a missing one alone:  npx lossproof check ${words}${adapter}\n`);
  err.write(`  then all of them:     npx lossproof merge\n`);
  if (missing.length > 1) err.write(`  missing are ${missing.join(', ')}\n`);
}

function link(address: string): string {
  return /^https?:/.test(address) ? address : `http://${address}`;
}
