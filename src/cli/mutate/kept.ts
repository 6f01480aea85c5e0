// Where a run of `mutate` is kept while it goes on, so that it can be gone on with, and its score named by `check`.
import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type MutateEvent, type Mutation, mutationOf } from '../../mutate/events.ts';
import { mutateLine, readMutateEvents } from '../../mutate/read.ts';
import { readText } from '../../outside/file.ts';
import type { Plan } from '../check/plan.ts';
import type { Context, Problem } from '../context.ts';
import { MUTATIONS, makeFolder } from '../outputs/last-run.ts';
import { type Lock, lock } from '../outputs/lock.ts';
import { writeAll } from '../outputs/sink.ts';
import { cannotBeWritten, openBehind, openOwnAnew } from '../outputs/written.ts';
import { CASES_FOLDER } from '../trainer/cases-folder.ts';
import { commandOf } from '../trainer/trainer.ts';

type Place = Pick<Context, 'cwd'>;

/** Under the working directory: one file a trainer. */
export function keptFile({ choice, name }: Pick<Plan, 'choice' | 'name'>): string {
  const command = commandOf(choice);
  const print = createHash('sha256')
    .update(`${name ?? ''} ${command}`)
    .digest('hex')
    .slice(0, PRINT);
  const words = basename(command.split(/\s+/).at(-1) ?? '').replace(/\.py$/, '');
  const plain = (name ?? words).replaceAll(/[^\p{L}\p{N}_]+/gu, '-').slice(0, MOST_NAME);
  return join(dirname(CASES_FOLDER), MUTATIONS, `${plain}-${print}.ndjson`);
}

const PRINT = 6;
const MOST_NAME = 40;

/** The last run of this trainer; undefined: none is known. */
export function keptMutation(file: string, { cwd }: Place): Mutation | undefined {
  const text = readText(resolve(cwd, file));
  return 'ok' in text ? mutationOf(readMutateEvents(text.ok)) : undefined;
}

export interface Kept {
  emit(event: MutateEvent): void;
  close(): void;
}

/** Written line by line. `append`: behind the last whole line of what is there. */
export function keep(file: string, append: boolean, context: Context): Kept | Problem {
  const path = resolve(context.cwd, file);
  const refused = makeFolder(context, dirname(path));
  if (refused !== undefined) return { problem: `${file} ${refused}` };
  const claimed: Lock | { held: string } = lock(path);
  if ('held' in claimed) return { problem: `${file} ${claimed.held}` };
  let descriptor: number;
  try {
    descriptor = append ? openBehind(path) : openOwnAnew(path);
  } catch (error) {
    claimed.release();
    return { problem: `${file} ${cannotBeWritten(error)}` };
  }
  let problem: string | undefined;
  return {
    emit(event) {
      if (problem !== undefined) return;
      try {
        writeAll(descriptor, mutateLine(event));
      } catch (error) {
        problem = cannotBeWritten(error);
        context.err.write(`lossproof: ${file} ${problem}; --resume will not know what follows\n`);
      }
    },
    close() {
      closeSync(descriptor);
      claimed.release();
    },
  };
}
