// What can honestly be said of a change that survives, or that no op reaches: the declaration that was seen to find it, what
// this adapter leaves unasked, or that nothing judges it.
import type { Change } from './change.ts';
import type { Judged, MutateStart, Mutation } from './events.ts';

/** Sentences, the most useful first. */
export function hintsOf(judged: Judged, { absent }: MutateStart): readonly string[] {
  const { declare = [], follows = [], ops = [], skips, answers, requests = 0 } = judged;
  const hints: string[] = [];
  if (declare.length > 0)
    hints.push(
      `An undeclared choice is measured again, so this change is legal: declare ${declare.join(', ')}, and it is found.`,
    );
  if (follows.length > 0)
    hints.push(
      `The adapter reads its declaration from the changed code: declare a fixed value, ${follows.join(', ')}, and it is found.`,
    );
  if (skips !== undefined)
    hints.push(
      `${skips.properties === 1 ? 'One property that held is' : `${skips.properties} properties that held are`} skipped then, which \`check\` says and lets pass: ${skips.reason}.`,
    );
  if (answers === 'same')
    hints.push(
      `None of ${requests.toLocaleString('en')} answers is another one: the change may change nothing, or nothing that these cases show.`,
    );
  const unasked = unaskedOf(ops, absent);
  if (unasked.length > 0) hints.push(`Not asked of this adapter: ${unasked.join('; ')}.`);
  if (declare.length + follows.length === 0 && skips === undefined && answers !== 'same')
    hints.push(
      answers === 'other'
        ? 'Answers are other ones, by less than is allowed or in what no property of lossproof judges.'
        : 'No property of lossproof judges this, or the change changes nothing.',
    );
  return hints;
}

/** Why properties of these ops were not asked, each reason once, those that cost most first. */
function unaskedOf(ops: readonly string[], absent: MutateStart['absent']): readonly string[] {
  const counts = new Map<string, number>();
  for (const each of absent) {
    // A property of several ops is the business of none of them alone.
    if (!each.ops.every((op) => ops.includes(op))) continue;
    counts.set(each.reason, (counts.get(each.reason) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_REASONS)
    .map(([reason, count]) => (count === 1 ? reason : `${reason} (${count} properties)`));
}

const MOST_REASONS = 3;

export interface UnreachedFunction {
  readonly file: string;
  /** Empty: the top of the file. */
  readonly function: string;
  readonly changes: number;
  /** An op of the protocol that its name speaks of and that the adapter does not offer. */
  readonly op: string | undefined;
}

/** Code that no op reaches, by function; `ops`: all that there are. */
export function unreachedOf(
  { start, judged }: Mutation,
  ops: readonly string[],
): readonly UnreachedFunction[] {
  const unreached = new Set(judged.flatMap(({ id, outcome }) => (outcome === 'unreached' ? [id] : [])));
  const found = new Map<string, UnreachedFunction>();
  const absent = ops.filter((op) => !start.ops.includes(op));
  for (const change of start.changes) {
    if (!unreached.has(change.id)) continue;
    const file = start.files[change.file]?.shown ?? '';
    const key = `${file} ${change.function}`;
    const before = found.get(key);
    found.set(key, {
      file,
      function: change.function,
      changes: (before?.changes ?? 0) + 1,
      op: before?.op ?? opIn(change, absent),
    });
  }
  return [...found.values()].sort((a, b) => b.changes - a.changes);
}

/** Of several the longest name: `sft_loss` says more than `loss`. */
function opIn({ function: name }: Change, ops: readonly string[]): string | undefined {
  const words = (name.split('.').at(-1) ?? '').toLowerCase().split('_');
  return ops
    .filter((op) => op.split('_').every((word) => words.includes(word)))
    .sort((a, b) => b.length - a.length)[0];
}
