// What the adapter leaves out so that no property could judge it, as one sentence beside the verdict: a pass says nothing of it.
import type { RunEnd } from '../check/events.ts';
import { harmless } from './text/visible.ts';

/** One sentence, or none where everything that was asked could be judged. */
export function unjudgedLines({ unjudged = [] }: Pick<RunEnd, 'unjudged'>): string[] {
  if (unjudged.length === 0) return [];
  const named = unjudged.slice(0, MOST_NAMED).map(({ what, line }) => `${what} (${line})`);
  const more = unjudged.length - MOST_NAMED;
  const rest = more > 0 ? [`${more} more`] : [];
  return [harmless(`Not judged: ${[...named, ...rest].join('; ')}.`)];
}

/** One sentence stays readable; the file of events has the others. */
const MOST_NAMED = 3;
