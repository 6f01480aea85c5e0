// What the shards of a run have written, a file each, as it comes: nothing that is finished is lost, however the run ends.
import { closeSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolders } from '../../outside/folder.ts';
import { SHARDS_FOLDER } from '../check/shard.ts';
import { isProblem, type Problem, whyOf } from '../context.ts';
import { type Lock, lock } from '../outputs/lock.ts';
import { writeAll } from '../outputs/sink.ts';
import { openOwnAnew, writeOnce } from '../outputs/written.ts';

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
  const claimed = claim(folder);
  if (isProblem(claimed)) return claimed;
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
        open.set(shard, openOwnAnew(resolve(cwd, name(shard))));
      }),
    append: (shard, line) =>
      attempt(() => {
        const descriptor = open.get(shard);
        if (descriptor !== undefined) writeAll(descriptor, `${line}\n`);
      }),
    fault: () => problem,
    close: () => {
      attempt(() => [...open.keys()].forEach(end));
      claimed.release();
    },
  };
}

/** The folder is ours, and empty. A part that is being written by another run is left alone, and so is what is beside it. */
function claim(folder: string): Lock | Problem {
  try {
    makeFolders(folder);
    writeOnce(join(folder, '.gitignore'), '*\n');
    const whole = lock(join(folder, 'all'));
    if ('held' in whole) return { problem: `${SHARDS_FOLDER} ${whole.held}; ${ELSEWHERE}` };
    for (const name of readdirSync(folder).filter((each) => NAME.test(each))) {
      const part = lock(join(folder, name));
      if ('held' in part) {
        whole.release();
        return { problem: `${SHARDS_FOLDER}/${name} ${part.held}; ${ELSEWHERE}` };
      }
      rmSync(join(folder, name));
      part.release();
    }
    return whole;
  } catch (error) {
    return { problem: `${SHARDS_FOLDER} cannot be written: ${whyOf(error)}` };
  }
}

const ELSEWHERE = 'wait for it, or run in another folder';
