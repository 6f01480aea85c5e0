// What the end of a run says about the catalogue of bugs: how many the rules that judged something can find, and the
// classes of which they find none. docs/detection.md has the same for each command.
import { bugClasses, bugs } from '../bugs/index.ts';
import type { PropertyFacts, PropertyResult } from '../check/events.ts';
import { UNJUDGED } from '../vocabulary.ts';
import { wrap } from './text/visible.ts';

/** Classes that are named. */
const MOST_CLASSES = 5;

export function knownBugLines(
  properties: readonly Pick<PropertyFacts, 'id' | 'catches'>[],
  results: readonly Pick<PropertyResult, 'id' | 'verdict'>[],
  width: number,
): string[] {
  const judged = new Set(results.filter(({ verdict }) => !UNJUDGED.includes(verdict)).map(({ id }) => id));
  const found = new Set(properties.filter(({ id }) => judged.has(id)).flatMap(({ catches }) => catches));
  if (found.size === 0) return [];
  const without = Object.entries(bugClasses)
    .filter(([prefix]) => ![...found].some((id) => id.startsWith(`${prefix}-`)))
    .map(([, name]) => name.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()));
  const counted = `The rules that judged something can find ${found.size} of the ${bugs.length} known bugs of trainers.`;
  const none = `They find none of these classes: ${listed(without)}; docs/detection.md says which command does.`;
  return ['', ...wrap(without.length === 0 ? counted : `${counted} ${none}`, width)];
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_CLASSES;
  return more > 1 ? `${names.slice(0, MOST_CLASSES).join(', ')}, and ${more} more` : names.join(', ');
}
