// What the shards of a run have written, a file each, as it comes: nothing that is finished is lost, however the run ends.
import { closeSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SHARDS_FOLDER } from '../check/shard.ts';
import { type Problem, whyOf } from '../context.ts';
import { openAnew } from '../outputs/written.ts';

const NAME = /^\d+-of-\d+\.ndjson$/;

export interface ShardFiles {
  /** The name of its file, from the working directory. */
  name(shard: number): string;
  /** Its file is empty again: a try that was lost is no part of the run. */
  begin(shard: number): void;
  append(shard: number, line: string): void;
  /** Why something is missing in them; said at the end, and no verdict. */
  fault(): string | undefined;
  close(): void;
}

/** The files of an earlier run are gone: all that lies there is of one run, and `merge` takes it as that. */
export function openShardFiles(cwd: string, shards: number): ShardFiles | Problem {
  const folder = resolve(cwd, SHARDS_FOLDER);
  let problem: string | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    const ignore = join(folder, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
    for (const name of readdirSync(folder)) if (NAME.test(name)) rmSync(join(folder, name));
  } catch (error) {
    return { problem: `${SHARDS_FOLDER} cannot be written: ${whyOf(error)}` };
  }
  const open = new Map<number, number>();
  const name = (shard: number): string => `${SHARDS_FOLDER}/${shard}-of-${shards}.ndjson`;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      problem ??= `${SHARDS_FOLDER} cannot be written: ${whyOf(error)}`;
    }
  };
  const end = (shard: number): void => {
    const descriptor = open.get(shard);
    if (descriptor !== undefined) closeSync(descriptor);
    open.delete(shard);
  };
  return {
    name,
    begin: (shard) =>
      attempt(() => {
        end(shard);
        open.set(shard, openAnew(resolve(cwd, name(shard))));
      }),
    append: (shard, line) =>
      attempt(() => {
        const descriptor = open.get(shard);
        const bytes = Buffer.from(`${line}\n`);
        if (descriptor === undefined) return;
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      }),
    fault: () => problem,
    close: () => attempt(() => [...open.keys()].forEach(end)),
  };
}
