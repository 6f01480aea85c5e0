// The trainer's process that has imported everything, and whatever is forked from it: what is asked of them goes through a folder
// of their own (src/python/lossproof_mutate), everything else through the pipes of any trainer.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type ChangePlan, decodePlan, isListOf } from '../../mutate/change.ts';
import type { Reached } from '../../mutate/events.ts';
import type { Processes, Started } from '../../mutate/run.ts';
import { type Decoded, isJsonObject } from '../../outside/decoded.ts';
import { readJson } from '../../outside/file.ts';
import { startTrainer, type TrainerOptions } from '../../trainer/process.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import { PACKAGE_ROOT } from '../../version.ts';
import type { Plan } from '../check/plan.ts';
import type { Context, Problem } from '../context.ts';
import { deadlinesOf } from '../trainer/open.ts';

const PACKAGE = join(PACKAGE_ROOT, 'src', 'python', 'lossproof_mutate');
const CLIENT = join(PACKAGE, '_client.py');

/** Exit codes of a fork that say nothing about the trainer (`_fork.py`). */
const TOO_LATE = 93;
const NOT_TAKEN = 94;

export interface Folder {
  readonly path: string;
  /** Of the process that is to be changed. */
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** `root`: the adapter's folder; `sources` as they were typed in `here`. */
export function sharedFolder(
  asked: { readonly root: string; readonly here: string; readonly sources: readonly string[] },
  env: Context['env'],
): Folder {
  const path = mkdtempSync(join(tmpdir(), 'lossproof-mutate-'));
  writeFileSync(join(path, 'asked.json'), JSON.stringify(asked));
  const before = env.PYTHONPATH === undefined || env.PYTHONPATH === '' ? [] : [env.PYTHONPATH];
  return {
    path,
    env: {
      PYTHONPATH: [join(PACKAGE, 'bootstrap'), ...before].join(delimiter),
      LOSSPROOF_MUTATE: path,
      // A fork has one thread, and would wait for the others for ever.
      OMP_NUM_THREADS: '1',
      MKL_NUM_THREADS: '1',
      TOKENIZERS_PARALLELISM: 'false',
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** What the process says of itself once it has said hello. */
export function planIn({ path }: Folder): ChangePlan | Problem {
  const read: Decoded<unknown> = readJson(join(path, 'plan.json'));
  if ('complaint' in read)
    return {
      problem:
        'the trainer is not changed: mutate needs an adapter in Python that calls lossproof.serve, in this machine and not in a container, and a Python that reads PYTHONPATH (no -I, -E or -S)',
    };
  const plan = decodePlan(read.ok);
  return 'ok' in plan
    ? plan.ok
    : { problem: `the list of changes from the trainer cannot be read: it ${plan.complaint}` };
}

export interface ProcessOptions {
  readonly plan: Plan;
  readonly folder: Folder;
  readonly told: ChangePlan;
}

export interface OwnProcesses extends Processes {
  /** All that are there or on their way, in the middle of whatever they do. */
  end(): void;
}

export function processesOf({ plan, folder, told }: ProcessOptions): OwnProcesses {
  const starting = new Set<() => void>();
  const running = new Set<Trainer>();
  const start = async (options: TrainerOptions): Promise<Started> => {
    let giveUp = (): void => {};
    const started = startedOf(
      await startTrainer(options, (give) => {
        giveUp = give;
        starting.add(giveUp);
      }),
    );
    starting.delete(giveUp);
    if (typeof started === 'string' || 'failure' in started) return started;
    const { trainer } = started;
    running.add(trainer);
    return {
      trainer: {
        ...trainer,
        stop() {
          running.delete(trainer);
          return trainer.stop();
        },
      },
    };
  };
  const cwd = plan.choice.kind === 'command' ? plan.choice.cwd : process.cwd();
  const deadlines = deadlinesOf(plan);
  const fork = (request: object, opMilliseconds?: number): Promise<Started> =>
    start({
      ...deadlines,
      ...(opMilliseconds === undefined ? {} : { opMilliseconds }),
      command: [
        told.python,
        '-I',
        '-S',
        CLIENT,
        folder.path,
        JSON.stringify({ ...request, folder: folder.path }),
      ],
      cwd,
      env: {},
      maxRestarts: 0,
    });
  let recorded = 0;
  return {
    async recorded() {
      const name = `lines-${recorded++}.json`;
      const started = await fork({ lines: name });
      return { started, lines: () => linesIn(join(folder.path, name), told) };
    },
    plain: () => fork({}),
    changed: ({ id }, slowest) => fork({ change: id }, slowest),
    async anew({ id }, slowest) {
      if (plan.choice.kind !== 'command') return 'not taken';
      return start({
        ...deadlines,
        command: plan.choice.command,
        cwd,
        env: { ...folder.env, LOSSPROOF_MUTATE_CHANGE: id },
        opMilliseconds: Math.max(slowest, deadlines.opMilliseconds ?? 0),
        maxRestarts: 0,
      });
    },
    end() {
      for (const giveUp of starting) giveUp();
      for (const trainer of running) void trainer.stop();
    },
    isScript: ({ file }) => told.files[file]?.isScript === true,
  };
}

function startedOf(started: Awaited<ReturnType<typeof startTrainer>>): Started {
  if (!('failure' in started)) return started;
  if (started.failure.exitCode === TOO_LATE) return 'too late';
  return started.failure.exitCode === NOT_TAKEN ? 'not taken' : started;
}

/** Of each op, by file; what cannot be read is nothing. */
function linesIn(file: string, { files }: ChangePlan): Reached {
  const read = readJson(file);
  const seen = 'ok' in read && isJsonObject(read.ok) ? read.ok : {};
  const numbers = (value: unknown): readonly number[] =>
    isListOf(value, (each): each is number => Number.isSafeInteger(each)) ? value : [];
  return Object.fromEntries(
    Object.entries(seen).flatMap(([op, byPath]) => {
      const own = isJsonObject(byPath) ? files.map(({ path }) => numbers(byPath[path])) : [];
      return op !== 'hello' && own.some((lines) => lines.length > 0) ? [[op, own] as const] : [];
    }),
  );
}
