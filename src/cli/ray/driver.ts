// The Python that talks to Ray, `src/python/lossproof_ray`: one line of JSON in, lines of JSON out. What they mean to a user is
// not known here.
import { bound } from '../../bounds.ts';
import { isJsonObject } from '../../outside/decoded.ts';
import { parseStrict } from '../../outside/json.ts';
import { lineSplitter } from '../../protocol/lines.ts';
import { type ChildExit, startChild } from '../../trainer/child.ts';

/** `_job.py` reads it. */
export interface Job {
  readonly address: string;
  /** Seconds that the address is given to answer. */
  readonly patience: number;
  readonly shards: number | null;
  readonly most: number;
  readonly root: string;
  readonly place: string;
  readonly options: readonly string[];
  readonly adapter: readonly string[];
  readonly main: string;
  readonly version: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly pythonpath: readonly string[];
  readonly cpus: number;
  readonly gpus: number;
  readonly memory: number | null;
  readonly retries: number;
  readonly runtime_env: Readonly<Record<string, unknown>> | null;
}

export interface Cluster {
  readonly ray: string;
  readonly nodes: number;
  readonly cpus: number;
  readonly gpus: number;
  readonly dashboard: string | null;
  readonly shards: number;
}

/** What `_say.py` writes, one key telling which. `node` is its address with the beginning of its id. */
export type Said =
  | { readonly cluster: Cluster }
  | { readonly problem: string }
  /** Nothing more is said, once its input ends. */
  | { readonly over: true }
  | { readonly shard: number; readonly started: { readonly node: string }; readonly try: number }
  | { readonly shard: number; readonly line: string }
  | {
      readonly shard: number;
      readonly lost: string;
      readonly node: string | null;
      readonly again: boolean;
      readonly try: number;
    }
  | { readonly shard: number; readonly unfit: string; readonly node: string }
  | {
      readonly shard: number;
      readonly ended: { readonly code: number; readonly stderr: string };
      readonly node: string;
    };

export interface Driver {
  /** No shard is started any more; those that run go on. */
  enough(): void;
  /** Ends every shard and the driver; resolves when it is gone. */
  cancel(): Promise<void>;
  readonly exited: Promise<ChildExit>;
  stderrTail(): string;
}

/** Time to end the workers in order; Ray ends those of a driver that is gone by itself. */
const CANCEL_MILLISECONDS = bound({
  of: 'waiting for the Ray driver to end',
  wall: 10_000,
  over: 'it is killed',
});

export function startDriver(
  python: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  job: Job,
  hear: (said: Said) => void,
): Driver {
  const splitter = lineSplitter();
  const child = startChild({ command: [python, '-m', 'lossproof_ray'], cwd, env: quiet(env) }, (chunk) => {
    for (const line of splitter.push(chunk)) {
      const said = typeof line === 'string' ? saidOf(line) : undefined;
      // It ends when it knows that all of it was read.
      if (said !== undefined && 'over' in said) child.endInput();
      else if (said !== undefined) hear(said);
    }
  });
  child.write(`${JSON.stringify(job)}\n`);
  return {
    enough: () => child.write('enough\n'),
    async cancel() {
      child.endInput();
      const timer = setTimeout(() => void child.kill(), CANCEL_MILLISECONDS);
      await child.exited;
      clearTimeout(timer);
    },
    exited: child.exited,
    stderrTail: child.stderrTail,
  };
}

/** Ray asks for consent to be counted, and colours what it says. */
function quiet(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return {
    RAY_USAGE_STATS_ENABLED: env.RAY_USAGE_STATS_ENABLED ?? '0',
    RAY_COLOR_PREFIX: '0',
    PYTHONUNBUFFERED: '1',
    ...(env.PYTHONPATH === undefined ? {} : { PYTHONPATH: env.PYTHONPATH }),
  };
}

function saidOf(line: string): Said | undefined {
  const parsed = parseStrict(line);
  // It is of our own version, and lies beside us.
  return 'ok' in parsed && isJsonObject(parsed.ok) ? (parsed.ok as unknown as Said) : undefined;
}
