// What of a command line is for the shards, as words: what was typed, but for what is this machine's own business.
import { isAbsolute, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { NAMES } from '../outputs/outputs.ts';

/** Not for a shard: the cluster, the outputs of the whole run, what is printed, and what is said otherwise or refused. */
const HERE: ReadonlySet<string> = new Set([
  ...NAMES,
  'webhook',
  ...['ray', 'shards', 'retries', 'rayEnv', 'cpusPerWorker', 'gpusPerWorker', 'memoryPerWorker'],
  ...['quiet', 'rows', 'labels', 'annotations', 'updateKnown'],
  ...['python', 'seed', 'config', 'shard', 'workers', 'resume', 'maxTime', 'bail'],
]);

/** Their values are files or folders. */
const PATHS: ReadonlySet<string> = new Set(['known', 'tokenizer']);

/** `root` is the folder that is taken along: what lies in it is named from `cwd`, in it, and so is there, too. */
export function passedOptions(command: Command, cwd: string, root: string): readonly string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (HERE.has(name) || option.long == null || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    if (value === undefined || value === option.negate) return [];
    if (typeof value === 'boolean') return [option.long];
    const words = (Array.isArray(value) ? value : [value]).map(String);
    return words.flatMap((word) => [
      option.long ?? '',
      PATHS.has(name) ? movable(resolve(cwd, word), cwd, root) : word,
    ]);
  });
}

/** A path as it is meant on a node: from the working directory, if it is taken along; elsewhere as it is here. */
export function movable(path: string, cwd: string, root: string): string {
  return isInside(path, root) ? relative(cwd, path) || '.' : path;
}

export function isInside(path: string, folder: string): boolean {
  const from = relative(folder, path);
  return from === '' || (!from.startsWith('..') && !isAbsolute(from));
}
