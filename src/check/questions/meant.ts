// Choices that no answer shows: what takes a rule away where it is declared, and is asked about where it is not.
import { CHOICES, type ChoiceName } from '../../vocabulary/choices.ts';
import type { Semantics } from '../../vocabulary.ts';
import { declaration } from '../profile/doubt.ts';
import type { Finding, Need } from '../property.ts';

interface Declared {
  readonly semantics: Semantics;
}

/** The trainer does not declare the value that takes the rule away. */
export const notMeant =
  (name: ChoiceName): Need =>
  ({ semantics }) => {
    const { meant } = CHOICES[name];
    return meant === undefined || semantics[name] !== meant.value
      ? undefined
      : `semantics.${name} is ${meant.value}: ${meant.why}`;
  };

/** What a finding is answered by, after `others`, where nobody has said whether it is meant. */
export function meantOr(
  { semantics }: Declared,
  name: ChoiceName,
  others: readonly string[] = [],
): Pick<Finding, 'answers'> {
  const { meant } = CHOICES[name];
  if (meant === undefined || semantics[name] !== undefined) return {};
  return { answers: [...others, `${declaration(name, meant.value)}  (${meant.why})`] };
}
