// What one part of a rule says, where a rule is made of several.
import type { Found } from './words.ts';

export interface Part {
  readonly judged: number;
  readonly aside: number;
  readonly found: readonly Found[];
}

export const NOTHING: Part = { judged: 0, aside: 0, found: [] };
