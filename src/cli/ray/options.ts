// The options of `check --ray`: where the cluster is, how a run is cut for it, and what a trainer there asks for.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Problem } from '../context.ts';
import { wholePositive } from '../options.ts';

export interface RayOptions {
  /** `HOST:6379`, `ray://HOST:10001` or `auto`. */
  readonly ray?: string;
  readonly shards?: number;
  readonly retries?: number;
  /** A JSON file with a `runtime_env` of Ray's. */
  readonly rayEnv?: string;
  readonly cpusPerWorker?: number;
  readonly gpusPerWorker?: number;
  /** In bytes. */
  readonly memoryPerWorker?: number;
}

export const DEFAULT_RETRIES = 2;

/** Other commands of this table may have some of them already: what a worker asks for is one thing, wherever it runs. */
export function addRayOptions(command: Command): Command {
  for (const option of rayOptions())
    if (!command.options.some(({ long }) => long === option.long)) command.addOption(option.helpGroup(GROUP));
  return command;
}

const GROUP = 'On a Ray cluster:';

function rayOptions(): readonly Option[] {
  return [
    new Option('--ray <address>', 'run as shards on this Ray cluster: HOST:6379, ray://HOST:10001 or auto'),
    new Option('--shards <n>', 'number of shards (default: as many as the cluster runs at once)').argParser(
      wholePositive,
    ),
    new Option(
      '--retries <n>',
      `how often to rerun a shard whose worker or node was lost (default ${DEFAULT_RETRIES})`,
    ).argParser(wholeOrNone),
    new Option(
      '--ray-env <file>',
      "JSON that is merged into the runtime_env of the shards (see Ray's documentation)",
    ),
    new Option('--cpus-per-worker <n>', 'CPUs per trainer (default 1)').argParser(amount),
    new Option('--gpus-per-worker <n>', 'GPUs that one trainer is given; a fraction shares one').argParser(
      amount,
    ),
    new Option(
      '--memory-per-worker <size>',
      'memory that Ray keeps free for one trainer, as in 16GiB',
    ).argParser(bytes),
  ];
}

/** Options that do not go together, before anything is started; undefined where they do. */
export function rayComplaint(
  options: RayOptions,
  others: Readonly<Record<string, unknown>>,
): Problem | undefined {
  const typed = (names: readonly (keyof RayOptions)[]): keyof RayOptions | undefined =>
    names.find((name) => options[name] !== undefined);
  if (options.ray === undefined) {
    const alone = typed(['shards', 'retries', 'rayEnv', 'cpusPerWorker']) ?? typed(['memoryPerWorker']);
    if (alone === undefined || (alone === 'memoryPerWorker' && others.workers !== undefined))
      return undefined;
    const hint = HINTS[alone] ?? '';
    return { problem: `${FLAGS[alone]} is of --ray ADDRESS, the cluster to run on${hint}` };
  }
  for (const [name, why] of Object.entries(APART))
    if (others[name] !== undefined && others[name] !== false) return { problem: why };
  return undefined;
}

const FLAGS: Partial<Record<keyof RayOptions, string>> = {
  shards: '--shards',
  retries: '--retries',
  rayEnv: '--ray-env',
  cpusPerWorker: '--cpus-per-worker',
  memoryPerWorker: '--memory-per-worker',
};

const HINTS: Partial<Record<keyof RayOptions, string>> = {
  shards: '; a single shard is run by --shard 1/8',
  memoryPerWorker: ', or of --workers N on this machine',
};

/** What --ray does itself, or cannot. */
const APART: Readonly<Record<string, string>> = {
  shard: '--ray runs all shards; say --shards to choose their number, or leave --ray out to run a single one',
  workers:
    '--workers is of this machine and --ray of a cluster; say --shards to choose how many run there, or leave one out',
  maxTime: '--max-time is of a run of this machine; with --ray, more --shards make a run shorter',
  bail: '--bail is of a run of this machine, and all shards of --ray run to their end; leave one of them out',
  updateKnown: '--update-known needs a run of this machine; leave --ray out',
  resume:
    '--resume goes on with a run of this machine; what --ray lost runs again by itself, and --shard runs a single shard',
};

function wholeOrNone(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0)
    throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return value;
}

/** Ray takes parts of a CPU or GPU, and none. */
function amount(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be a number, 0 or more.');
  return value;
}

const UNITS = ['', 'K', 'M', 'G', 'T'];

/** `16GiB`, `16G`, `512 MiB` and plain bytes: always by 1,024. */
export function bytes(text: string): number {
  const [, digits, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])i?b?|b)?\s*$/i.exec(text) ?? [];
  const value = Math.round(Number(digits) * 1_024 ** UNITS.indexOf(unit.toUpperCase()));
  if (digits === undefined || value <= 0)
    throw new InvalidArgumentError('It must be a size, as in 16GiB or 512MiB.');
  return value;
}
