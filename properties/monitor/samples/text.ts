// Texts of samples as sentences show them, and what two texts have in common.
import { type RuleWorld, type Sample, type Violation, visible } from '../../../src/index.ts';

/** White space visible, cut where a sentence would grow long. */
export function quote(text: string, most = SHOWN): string {
  const cut = [...text.slice(0, most * 2)];
  return cut.length > most || text.length > most * 2
    ? `'${visible(cut.slice(0, most).join(''))}...'`
    : `'${visible(text)}'`;
}

/** Characters of a foreign text in a sentence: a line of a terminal. */
const SHOWN = 72;

/** What was sampled as text: of the ids where a tokenizer is known, since they keep their special tokens. */
export function completionText(sample: Sample, world: RuleWorld): string | undefined {
  if (sample.completionIds !== undefined && world.tokens !== undefined)
    return world.tokens.decode(sample.completionIds);
  return sample.completion;
}

export function promptText(sample: Sample, world: RuleWorld): string | undefined {
  if (sample.promptIds !== undefined && world.tokens !== undefined)
    return world.tokens.decode(sample.promptIds);
  return sample.prompt;
}

/** Characters [from, to) of a completion as marks: of ids where the sample has them, and none where nobody can count. */
export function marksIn(
  { completionIds }: Sample,
  { tokens }: RuleWorld,
  from: number,
  to: number,
): Pick<Violation, 'marks'> {
  if (completionIds === undefined) return { marks: [[from, to]] };
  if (tokens === undefined) return {};
  const columnOf = (character: number): number => {
    let [low, high] = [0, completionIds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tokens.decode(completionIds.slice(0, middle + 1)).length <= character) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { marks: [[columnOf(from), Math.min(completionIds.length, columnOf(to - 1) + 1)]] };
}

/**
 * The longest end of `before` that `after` begins with, as its length; both strings or both ids. Only the last and the
 * first LONGEST elements are compared.
 */
export function overlap(before: ArrayLike<unknown>, after: ArrayLike<unknown>): number {
  const wanted = Array.from({ length: Math.min(after.length, before.length, LONGEST) }, (_, at) => after[at]);
  const failure = failureOf(wanted);
  let matched = 0;
  for (let at = Math.max(0, before.length - LONGEST); at < before.length; at++) {
    while (matched > 0 && (matched === wanted.length || wanted[matched] !== before[at]))
      matched = failure[matched - 1] ?? 0;
    if (wanted[matched] === before[at]) matched++;
  }
  return matched;
}

/** Longer prompts are compared by their ends. */
const LONGEST = 8192;

/** Knuth, Morris and Pratt: for each beginning, the longest proper beginning that it also ends with. */
function failureOf(wanted: readonly unknown[]): number[] {
  const failure = [0];
  for (let at = 1, matched = 0; at < wanted.length; at++) {
    while (matched > 0 && wanted[matched] !== wanted[at]) matched = failure[matched - 1] ?? 0;
    if (wanted[matched] === wanted[at]) matched++;
    failure.push(matched);
  }
  return failure;
}
