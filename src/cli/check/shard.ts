// `--shard i/n`: which part of a run this is, and where it is kept until all parts are merged.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { ShardName } from '../../check/options.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { type Keeping, LAST_RUN, SHARDS } from '../outputs/last-run.ts';
import { readRunFile } from '../outputs/saved-runs.ts';

/** More parts than any catalogue has properties are a slip of the finger. */
const MOST_SHARDS = 10_000;

export function shardName(text: string): ShardName {
  const [, index = '', of = ''] = /^(\d+)\/(\d+)$/.exec(text.trim()) ?? [];
  const name = { index: Number(index), of: Number(of) };
  if (index === '' || name.of < 1 || name.of > MOST_SHARDS)
    throw new InvalidArgumentError('It is i/n: part i, from 1, of n, as 3/8.');
  if (name.index < 1 || name.index > name.of)
    throw new InvalidArgumentError(
      `The first of ${name.of} parts is 1/${name.of}, the last ${name.of}/${name.of}.`,
    );
  return name;
}

/** Under the working directory; what `lossproof merge` reads where it is told nothing else. */
export const SHARDS_FOLDER = join(dirname(LAST_RUN), SHARDS);

export function keptAsShard({ index, of }: ShardName): Keeping {
  return { file: join(SHARDS_FOLDER, `${index}-of-${of}.ndjson`), needed: true };
}

/** A finished part is not written over by another one that was given the same file. */
export function overOtherPart(
  events: string | undefined,
  { index, of }: ShardName,
  context: Pick<Context, 'cwd'>,
): Problem | undefined {
  const path = resolve(context.cwd, events ?? '');
  // That no file of events goes there is said elsewhere.
  if (events === undefined || !existsSync(path) || dirname(path) === resolve(context.cwd, SHARDS_FOLDER))
    return undefined;
  const read = readRunFile(events, context);
  const there = isProblem(read) ? undefined : read.runs.at(-1)?.start.shard;
  if (there === undefined || there.index === index) return undefined;
  return {
    problem: `--events: ${events} holds part ${there.index} of ${there.of}; name another file for part ${index} of ${of}, or delete it`,
  };
}
