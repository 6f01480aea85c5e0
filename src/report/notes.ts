// What a pass is worth, beside its verdicts: what was measured and is often not meant, and which formulas nobody compared.
import type { PropertyResult } from '../check/events.ts';
import { OWN_FORMULA } from '../check/needs.ts';
import type { Doubt } from '../check/profile/doubt.ts';
import type { Run } from './runs.ts';
import { harmless, wrap } from './text/visible.ts';

export type Note = Pick<Doubt, 'sentence' | 'answers'>;

/** Of a run: of a trainer, measured before its first case; of a traced script, noticed as it was judged. */
export function notesIn({ start, end }: Pick<Run, 'start' | 'end'>): readonly Note[] {
  return [...(start.notes ?? []), ...(end?.notes ?? [])];
}

/** Above the first note of any report that a declaration answers, and above the first that is only worth knowing. */
export const NOTES_HEAD = 'Legal, and often not meant; --strict fails on it:';
export const REMARKS_HEAD = 'Ordinary, and worth knowing:';

/** Nothing declares it, and nobody asks it. */
export const isRemark = ({ answers }: Note): boolean => answers.length === 0;

/** Ids of properties that compare with no formula, because the trainer has its own. */
export function notCompared(results: readonly PropertyResult[]): string[] {
  return results.filter(({ reason }) => reason?.endsWith(OWN_FORMULA) === true).map(({ id }) => id);
}

/** Lines for a terminal, an empty one before each part; none where there is nothing to note. */
export function noteLines(
  notes: readonly Note[],
  results: readonly PropertyResult[],
  width: number,
): string[] {
  const own = notCompared(results);
  return [
    ...headed(
      NOTES_HEAD,
      notes.filter((note) => !isRemark(note)),
      width,
    ),
    ...headed(REMARKS_HEAD, notes.filter(isRemark), width),
    ...(own.length === 0
      ? []
      : ['', ...wrap(`Compared with no formula, being declared as its own: ${own.join(', ')}`, width)]),
  ];
}

function headed(head: string, notes: readonly Note[], width: number): string[] {
  if (notes.length === 0) return [];
  const lines = notes.flatMap(({ sentence, answers }) => [
    ...wrap(harmless(sentence), width - INDENT.length).map((line) => INDENT + line),
    ...answers.map((answer) => INDENT + INDENT + harmless(answer)),
  ]);
  return ['', head, ...lines];
}

const INDENT = '  ';
