// Whose tokens a data set is made of: how many each role has, and how many of them are trained.
import type { TokenRow } from './row.ts';

export interface RoleShare {
  /** A role as the rows have it; `template` for headers and marks between what is said; `padding`; `unknown`. */
  readonly name: string;
  readonly tokens: number;
  readonly trained: number;
}

/** Adds a row's tokens to the sums by role. */
export function addShares(row: TokenRow, sums: Map<string, { tokens: number; trained: number }>): void {
  const names = namesOf(row);
  for (const [at, name] of names.entries()) {
    const sum = sums.get(name) ?? { tokens: 0, trained: 0 };
    sum.tokens++;
    if (row.trained[at]) sum.trained++;
    sums.set(name, sum);
  }
}

// --- helpers ---

function namesOf({ ids, turns, said, answers, real }: TokenRow): readonly string[] {
  const names = new Array<string>(ids.length).fill('unknown');
  // Where it is known who says what, the rest of a turn is the template's.
  const known = answers.length > 0;
  for (const { name, from, to } of turns)
    names.fill(known ? 'template' : name === 'row' ? 'unknown' : name, from, to);
  // Both are in order, so that one pass finds the turn of each.
  let at = 0;
  for (const { from, to } of said) {
    while (at < turns.length && (turns[at]?.to ?? 0) <= from) at++;
    const turn = turns[at];
    names.fill(turn !== undefined && from >= turn.from ? turn.name : 'user', from, to);
  }
  for (const { from, to } of answers) names.fill('assistant', from, to);
  names.fill('padding', 0, real.from).fill('padding', real.to);
  return names;
}
