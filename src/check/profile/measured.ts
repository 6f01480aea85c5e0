// What was learnt of a trainer beyond what it declares.
import type { Semantics } from '../../vocabulary.ts';
import type { Doubt } from './doubt.ts';

export interface Measured {
  /** Never of a declared item. */
  readonly semantics: Semantics;
  readonly doubts: readonly Doubt[];
}

export const NOT_MEASURED: Measured = { semantics: {}, doubts: [] };
