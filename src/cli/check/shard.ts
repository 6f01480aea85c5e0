// `--shard i/n`: which part of a run this is, and where it is kept until all parts are merged.
import { dirname, join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { ShardName } from '../../check/options.ts';
import { type Keeping, LAST_RUN, SHARDS } from '../outputs/last-run.ts';

/** More parts than any catalogue has properties are a slip of the finger. */
const MOST_SHARDS = 10_000;

export function shardName(text: string): ShardName {
  const [, index = '', of = ''] = /^(\d+)\/(\d+)$/.exec(text.trim()) ?? [];
  const name = { index: Number(index), of: Number(of) };
  if (index === '' || name.of < 1 || name.of > MOST_SHARDS)
    throw new InvalidArgumentError('It is i/n: part i, from 1, of n, as 3/8.');
  if (name.index < 1 || name.index > name.of)
    throw new InvalidArgumentError(
      `Of ${name.of} parts the first is 1/${name.of}, the last ${name.of}/${name.of}.`,
    );
  return name;
}

/** Under the working directory; what `lossproof merge` reads where it is told nothing else. */
export const SHARDS_FOLDER = join(dirname(LAST_RUN), SHARDS);

export function keptAsShard({ index, of }: ShardName): Keeping {
  return { file: join(SHARDS_FOLDER, `${index}-of-${of}.ndjson`), needed: true };
}
