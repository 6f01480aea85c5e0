// What each property took and found in earlier runs in this folder: which begin first where several trainers judge side by
// side, or time is short. No verdict hangs on it, so that a file that cannot be read is none.
import { dirname, resolve } from 'node:path';
import type { PropertyResult } from '../../check/events.ts';
import type { Costs } from '../../check/options.ts';
import { readJson } from '../../outside/file.ts';
import { FAILING } from '../../vocabulary.ts';
import type { Context } from '../context.ts';
import { HISTORY, LAST_RUN } from '../outputs/last-run.ts';
import { writeOwn } from '../outputs/written.ts';

interface Past {
  /** A case. */
  readonly milliseconds?: number;
  /** Runs in which it failed. */
  readonly caught: number;
}

export interface History extends Costs {
  /** Adds what this run has seen, and writes all of it. */
  remember(results: readonly PropertyResult[]): void;
}

export function openHistory({ cwd }: Pick<Context, 'cwd'>): History {
  const file = resolve(cwd, dirname(LAST_RUN), HISTORY);
  const past = read(file);
  return {
    millisecondsOf: (id) => past.get(id)?.milliseconds,
    caught: (id) => past.get(id)?.caught ?? 0,
    remember(results) {
      for (const { id, verdict, cases, milliseconds } of results) {
        const before = past.get(id);
        const failed = FAILING.includes(verdict);
        // One that failed took its time for shrinking.
        const each = cases > 0 && !failed ? milliseconds / cases : before?.milliseconds;
        const caught = (before?.caught ?? 0) + (failed ? 1 : 0);
        if (each === undefined && caught === 0) continue;
        past.set(id, { caught, ...(each === undefined ? {} : { milliseconds: each }) });
      }
      writeOwn(file, `${JSON.stringify(Object.fromEntries(past))}\n`);
    },
  };
}

function read(file: string): Map<string, Past> {
  const parsed = readJson(file);
  const value = 'ok' in parsed ? parsed.ok : undefined;
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).flatMap(([id, past]) => (isPast(past) ? [[id, past]] : [])));
}

function isPast(value: unknown): value is Past {
  if (typeof value !== 'object' || value === null) return false;
  const { milliseconds, caught } = value as Readonly<Record<string, unknown>>;
  return Number.isFinite(caught) && (milliseconds === undefined || Number.isFinite(milliseconds));
}
