// What an acceptance changes, in words: for each entry what it was, and what it is.
import type { Reply } from './ask.ts';
import type { Entry, Fields } from './entry.ts';
import type { GoldenFile } from './file.ts';
import { type Judged, judgeCase, judgeDeclared } from './judge.ts';
import type { Asking } from './record.ts';
import { dtypeOf, entriesOf } from './run.ts';

/** Ids with their sentence; entries that stay as they are have none. */
export function changeWords(
  files: readonly GoldenFile[],
  entries: readonly Entry[],
  gone: readonly string[],
  { cases, world }: Asking,
): readonly (readonly [id: string, words: string])[] {
  const recorded = entriesOf(files);
  const dtype = dtypeOf(recorded);
  const changed = entries.flatMap((entry): (readonly [string, string])[] => {
    const golden = cases.find(({ id }) => id === entry.id);
    const old = recorded.get(entry.id);
    if (old === undefined) return [[entry.id, 'new']];
    if (golden === undefined) return told(entry.id, judgeDeclared(old, entry));
    const args = golden.given(world);
    const reply: Reply = { kind: 'said', said: entry.said, args: args as Fields };
    return told(entry.id, judgeCase(golden, old, reply, world, dtype));
  });
  return [
    ...changed,
    ...gone.map((id) => [id, 'taken out: the trainer or the set has no such case'] as const),
  ];
}

function told(id: string, judged: Judged): (readonly [string, string])[] {
  return 'finding' in judged ? [[id, judged.finding.sentence]] : [];
}
