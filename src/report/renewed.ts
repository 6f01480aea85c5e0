// That the trainer's process was renewed, and why: whoever reads the verdicts must know that it was not one process.
import type { RunEvent } from '../check/events.ts';
import { plural } from './text/plural.ts';
import { harmless } from './text/visible.ts';

/** One sentence, or none where nothing was renewed. */
export function renewedLines({
  renewed = [],
}: Pick<Extract<RunEvent, { type: 'run-end' }>, 'renewed'>): string[] {
  const all = renewed.reduce((sum, { times }) => sum + times, 0);
  if (all === 0) return [];
  const [only, ...others] = renewed;
  const whys =
    only !== undefined && others.length === 0
      ? `, ${all === 1 ? '' : 'each '}${only.why}`
      : `: ${renewed.map(({ times, why }) => `${times} ${why}`).join(', ')}`;
  return [harmless(`The trainer's process was renewed ${plural(all, 'time')}${whys}.`)];
}
