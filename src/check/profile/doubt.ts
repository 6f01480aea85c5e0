// What a careful engineer would ask about, seen while a trainer was measured: data, told by the run.
import type { ItemName, Semantics } from '../../vocabulary.ts';

export interface Doubt {
  /** What it is about; the property that compares this item asks it. */
  readonly item: ItemName;
  /**
   * `ask`: none of the known ways, or one that no known trainer has on purpose; the run fails until it is answered.
   * `note`: legal, and often not meant; said, and failing only a run that is strict.
   */
  readonly weight: 'ask' | 'note';
  readonly sentence: string;
  /** One-line declarations that answer it. */
  readonly answers: readonly string[];
}

/** A declaration as it is typed: `"clip_low": 0.2`. What is not bounded is measured as Infinity, and declared as null. */
export function declaration(item: keyof Semantics, value: unknown): string {
  return `"${item}": ${JSON.stringify(value)}`;
}
