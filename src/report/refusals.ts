// What the trainer refused and what that cost, once, in words: which request to answer, and how many properties are lost
// until then.
import type { PropertyResult, Refusal, RunEvent } from '../check/events.ts';
import { plural } from './text/plural.ts';
import { clipped, harmless } from './text/visible.ts';

/** A line for each request, the dearest first. */
export function refusalLines({
  refusals = [],
}: Pick<Extract<RunEvent, { type: 'run-end' }>, 'refusals'>): string[] {
  const more = refusals.length - MOST_REQUESTS;
  return [
    ...refusals.slice(0, MOST_REQUESTS).map((refusal) => harmless(refusalSentence(refusal))),
    ...(more > 0 ? [`and ${plural(more, 'more request')} that the trainer refused`] : []),
  ];
}

/** Whoever has more to answer begins with these. */
const MOST_REQUESTS = 5;
const MOST_NAMES = 6;
const MOST_WHY = 200;

function refusalSentence({ op, request, times, why, lost, weakened }: Refusal): string {
  const named = [`\`${op}\``, ...request].join(' ');
  const said = `Refused ${plural(times, 'time')}: ${named} ("${clipped(why, MOST_WHY)}").`;
  if (lost.length === 0)
    return `${said} ${counted(weakened)} ${weakened.length === 1 ? 'judges' : 'judge'} less than 4/5 of the cases without it: ${listed(weakened)}`;
  const half = weakened.length === 0 ? '' : `; ${counted(weakened)} more on less than 4/5 of the cases`;
  return `${said} Answer it, else ${counted(lost)} ${lost.length === 1 ? 'is' : 'are'} lost: ${listed(lost)}${half}`;
}

const counted = (ids: readonly PropertyResult['id'][]): string =>
  plural(ids.length, 'property', 'properties');

function listed(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMES;
  return `${ids.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
