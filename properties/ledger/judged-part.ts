// What one part of a rule says, where a rule is made of several.
import type { Found } from './words.ts';

export interface Part {
  readonly judged: number;
  /** Why, of each case that was not judged. */
  readonly aside: readonly string[];
  readonly found: readonly Found[];
}

export const NOTHING: Part = { judged: 0, aside: [], found: [] };
