// What `check` says last: how many changes of this trainer its properties found when it was mutated, and whether that still holds.
import { createHash } from 'node:crypto';
import { type Mutation, scoreOf } from '../../mutate/events.ts';
import { readBytes } from '../../outside/file.ts';
import { VERSION } from '../../version.ts';
import { harmless } from '../../visible.ts';
import type { Plan } from '../check/plan.ts';
import type { Context } from '../context.ts';
import { keptFile, keptMutation } from './kept.ts';

/** `mutate: 31 of 34 changes found, 3 survive, 2026-11-23`; undefined: it was never mutated from this folder. */
export function knownScore(
  plan: Pick<Plan, 'choice' | 'name'>,
  context: Pick<Context, 'cwd'>,
): string | undefined {
  if (plan.choice.kind === 'object') return undefined;
  const mutation = keptMutation(keptFile(plan), context);
  if (mutation === undefined) return undefined;
  const { found, survive, left } = scoreOf(mutation);
  if (found + survive === 0) return undefined;
  const all = (found + survive).toLocaleString('en');
  const { started } = mutation.start;
  const parts = [
    `mutate: ${found.toLocaleString('en')} of ${all} changes found, ${survive.toLocaleString('en')} ${survive === 1 ? 'survives' : 'survive'}`,
    started.slice(0, started.indexOf('T')),
    ...(left > 0 ? [`${left.toLocaleString('en')} more not tried`] : []),
  ];
  const stale = staleOf(mutation);
  return harmless(`${parts.join(', ')}${stale === undefined ? '' : `; stale: ${stale}`}`);
}

/** Why the score is that of another trainer, or of other properties. */
function staleOf({ start }: Mutation): string | undefined {
  const changed = start.files.find(({ path, print }) => printOf(path) !== print);
  if (changed !== undefined) return `${changed.shown} has changed since`;
  return start.version === VERSION ? undefined : `it was lossproof ${start.version}`;
}

function printOf(path: string): string | undefined {
  const read = readBytes(path);
  return 'ok' in read ? createHash('sha256').update(read.ok).digest('hex') : undefined;
}
